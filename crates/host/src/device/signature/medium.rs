//! Reading a medium in small pieces, whatever its length and its errors.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

/// Bytes that are read from any place.
pub trait ReadAt {
    /// Fills `buf` from `offset`.
    ///
    /// # Errors
    /// If not all of it can be read.
    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for &[u8] {
    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let start = usize::try_from(offset).map_err(|_| end())?;
        let source = start.checked_add(buf.len()).and_then(|stop| self.get(start..stop)).ok_or_else(end)?;
        buf.copy_from_slice(source);
        Ok(())
    }
}

#[cfg(unix)]
impl ReadAt for std::fs::File {
    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buf, offset)
    }
}

/// What is read at once; the largest page, and no more than a few sectors are lost with a bad one.
const UNIT_BYTES: u64 = 4096;

/// A medium, or a part of one, that remembers what it has read.
pub struct Medium<'a> {
    source: &'a dyn ReadAt,
    start: u64,
    len: u64,
    shared: Rc<Shared>,
}

struct Shared {
    whole_len: u64,
    units: RefCell<BTreeMap<u64, Option<Rc<[u8]>>>>,
    unreadable: Cell<bool>,
}

impl<'a> Medium<'a> {
    /// A medium of `len_bytes`.
    pub fn new(source: &'a dyn ReadAt, len_bytes: u64) -> Self {
        let shared = Shared { whole_len: len_bytes, units: RefCell::default(), unreadable: Cell::new(false) };
        Self { source, start: 0, len: len_bytes, shared: Rc::new(shared) }
    }

    /// The part of it from `start_bytes`, cut at its end.
    #[must_use]
    pub fn part(&self, start_bytes: u64, size_bytes: u64) -> Self {
        let start = start_bytes.min(self.len);
        Medium {
            source: self.source,
            start: self.start + start,
            len: size_bytes.min(self.len - start),
            shared: Rc::clone(&self.shared),
        }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Whether a part that was looked at could not be read, so that something may be missed.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.shared.unreadable.get()
    }

    /// `N` bytes from `offset`; `None` beyond the end or if they can't be read.
    #[must_use]
    pub fn bytes<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        let mut out = [0; N];
        self.fill(offset, &mut out)?;
        Some(out)
    }

    /// Whether `magic` is at `offset`.
    #[must_use]
    pub fn has(&self, offset: u64, magic: &[u8]) -> bool {
        let mut found = vec![0; magic.len()];
        self.fill(offset, &mut found).is_some() && found == magic
    }

    /// A byte.
    #[must_use]
    pub fn u8(&self, offset: u64) -> Option<u8> {
        self.bytes(offset).map(u8::from_le_bytes)
    }

    /// A little-endian number of 16 bits.
    #[must_use]
    pub fn u16(&self, offset: u64) -> Option<u16> {
        self.bytes(offset).map(u16::from_le_bytes)
    }

    /// A little-endian number of 32 bits.
    #[must_use]
    pub fn u32(&self, offset: u64) -> Option<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }

    /// A little-endian number of 64 bits.
    #[must_use]
    pub fn u64(&self, offset: u64) -> Option<u64> {
        self.bytes(offset).map(u64::from_le_bytes)
    }

    fn fill(&self, offset: u64, out: &mut [u8]) -> Option<()> {
        let end = offset.checked_add(out.len() as u64)?;
        if end > self.len {
            return None;
        }
        let mut at = self.start + offset;
        let mut rest = out;
        while !rest.is_empty() {
            let unit = self.unit(at / UNIT_BYTES)?;
            // Less than UNIT_BYTES, so it fits.
            #[allow(clippy::cast_possible_truncation)]
            let skip = (at % UNIT_BYTES) as usize;
            let have = unit.get(skip..).filter(|have| !have.is_empty())?;
            let n = have.len().min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(&have[..n]);
            rest = later;
            at += n as u64;
        }
        Some(())
    }

    fn unit(&self, index: u64) -> Option<Rc<[u8]>> {
        if let Some(known) = self.shared.units.borrow().get(&index) {
            return known.clone();
        }
        let at = index * UNIT_BYTES;
        // The medium's last unit may be short.
        let mut buf = [0; UNIT_BYTES as usize];
        let read = self.source.read_exact_at(at, &mut buf).map(|()| buf.len());
        let len = read.or_else(|error| self.short(at, &mut buf).ok_or(error));
        let unit = match len {
            Ok(len) => Some(Rc::from(&buf[..len])),
            Err(_) => {
                self.shared.unreadable.set(true);
                None
            }
        };
        self.shared.units.borrow_mut().insert(index, unit.clone());
        unit
    }

    /// Reads sector by sector, as far as it goes, where the whole unit can't be read.
    fn short(&self, at: u64, buf: &mut [u8]) -> Option<usize> {
        let mut have = 0;
        while have < buf.len() {
            let at = at + have as u64;
            let left = usize::try_from(self.shared.whole_len.saturating_sub(at)).unwrap_or(usize::MAX);
            let n = left.min(512).min(buf.len() - have);
            if n == 0 || self.source.read_exact_at(at, &mut buf[have..have + n]).is_err() {
                break;
            }
            have += n;
        }
        (have > 0).then_some(have)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A medium whose sector `bad` can't be read.
    struct BadSector {
        bytes: Vec<u8>,
        bad: u64,
    }

    impl ReadAt for BadSector {
        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
            let bad = self.bad * 512..(self.bad + 1) * 512;
            if offset < bad.end && offset + buf.len() as u64 > bad.start {
                return Err(io::Error::other("bad sector"));
            }
            self.bytes.as_slice().read_exact_at(offset, buf)
        }
    }

    #[test]
    fn reads_across_units_and_stops_at_the_end() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|n| (n % 251) as u8).collect();
        let source = bytes.as_slice();
        let medium = Medium::new(&source, 10_000);
        assert_eq!(medium.bytes::<200>(4000).unwrap(), bytes[4000..4200]);
        assert_eq!(medium.bytes::<8>(9992).unwrap(), bytes[9992..]);
        assert_eq!(medium.bytes::<8>(9993), None);
        assert_eq!(medium.u8(u64::MAX), None);
        assert!(!medium.is_unreadable());

        let part = medium.part(5000, 100);
        assert_eq!(part.bytes::<4>(96).unwrap(), bytes[5096..5100]);
        assert_eq!(part.bytes::<4>(97), None);
        assert_eq!(medium.part(9999, 100).len_bytes(), 1);
    }

    #[test]
    fn a_bad_sector_costs_what_is_behind_it_in_its_unit_only() {
        let medium_source = BadSector { bytes: vec![7; 16384], bad: 10 };
        let medium = Medium::new(&medium_source, 16384);
        assert_eq!(medium.u8(9 * 512), Some(7));
        assert_eq!(medium.u8(10 * 512), None);
        assert_eq!(medium.u8(8192), Some(7));
        let first = BadSector { bytes: vec![7; 16384], bad: 0 };
        let medium = Medium::new(&first, 16384);
        assert_eq!(medium.u8(0), None);
        assert!(medium.is_unreadable());
    }
}
