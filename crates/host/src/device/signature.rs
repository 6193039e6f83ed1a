//! What is on a medium: partition tables, file systems and other formats, recognised by their magic numbers.
//!
//! Each format has its file in `signature/` and its line in `TABLES` or `FORMATS`. Recognising is for the user's eyes before
//! something is overwritten, so it errs on the side of naming too much: a check sum that is wrong does not hide a
//! file system that could be repaired.

use std::fmt;

mod bcache;
mod bcachefs;
mod btrfs;
mod erofs;
mod exfat;
mod ext;
mod f2fs;
mod gpt;
mod iso9660;
mod jffs2;
mod littlefs;
mod luks;
mod lvm;
mod mbr;
mod md;
pub mod medium;
mod ntfs;
mod squashfs;
mod swap;
mod ubi;
mod udf;
mod vfat;
mod xfs;
mod zfs;

pub use medium::{Medium, ReadAt};

/// Recognises one format.
type Probe = fn(&Medium<'_>) -> Option<Signature>;

/// The partition tables that are known.
const TABLES: &[Probe] = &[gpt::probe, mbr::probe];

/// Everything else that is known.
const FORMATS: &[Probe] = &[
    bcache::probe,
    bcachefs::probe,
    btrfs::probe,
    erofs::probe,
    exfat::probe,
    ext::probe,
    f2fs::probe,
    iso9660::probe,
    jffs2::probe,
    littlefs::probe,
    luks::probe,
    lvm::probe,
    md::probe,
    ntfs::probe,
    squashfs::probe,
    swap::probe,
    ubi::probe,
    udf::probe,
    vfat::probe,
    xfs::probe,
    zfs::probe,
];

/// One thing found on a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The format's name, as `blkid` and the kernel have it where they know it, e.g. `ext4`, `gpt`, `crypto_LUKS`.
    pub name: &'static str,
    /// What it is, in words, e.g. `ext4 file system`.
    pub what: String,
    /// The name that the user gave it, for recognising it. Not for records.
    pub label: Option<String>,
    /// The partitions of a table.
    pub partitions: Vec<Partition>,
}

/// A partition that a table lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its number, from 1, as the kernel counts.
    pub index: u32,
    /// Where it starts, in bytes.
    pub start_bytes: u64,
    /// Its length in bytes.
    pub size_bytes: u64,
    /// Its name in the table, if it has one.
    pub label: Option<String>,
    /// What is on it.
    pub contents: Vec<Signature>,
}

impl Signature {
    fn new(name: &'static str, what: impl Into<String>, label: Option<String>) -> Self {
        Self { name, what: what.into(), label, partitions: Vec::new() }
    }

    fn file_system(name: &'static str, label: Option<String>) -> Self {
        Self::new(name, format!("{name} file system"), label)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        for (n, partition) in self.partitions.iter().enumerate() {
            let lead = if n == 0 { ": " } else { ", " };
            write!(f, "{lead}{partition}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition {}", self.index)?;
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        write!(f, " ({}", super::findings::approximate(self.size_bytes))?;
        for signature in &self.contents {
            write!(f, ", {signature}")?;
        }
        f.write_str(")")
    }
}

/// Names everything that is found on a medium, and on the partitions of its tables; empty if nothing is recognised.
#[must_use]
pub fn probe(medium: &Medium<'_>) -> Vec<Signature> {
    let mut found: Vec<Signature> = TABLES.iter().chain(FORMATS).filter_map(|probe| probe(medium)).collect();
    for partition in found.iter_mut().flat_map(|signature| &mut signature.partitions) {
        let part = medium.part(partition.start_bytes, partition.size_bytes);
        // Tables inside of partitions are left alone: a made-up one could send the probe round and round.
        partition.contents.extend(FORMATS.iter().filter_map(|probe| probe(&part)));
    }
    found
}

/// A label of bytes that ends at the first NUL; `None` if it is empty.
fn label(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A label of UTF-16LE that ends at the first NUL; `None` if it is empty.
fn label_utf16(bytes: &[u8]) -> Option<String> {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).take_while(|&unit| unit != 0);
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_found_on_nothing() {
        for len in [0, 1, 511, 512, 4096, 1 << 20] {
            for fill in [0, 0xff] {
                let bytes = vec![fill; len];
                assert_eq!(probe(&Medium::new(&bytes.as_slice(), len as u64)), []);
            }
        }
    }

    /// Magic numbers, at the places where they are looked for.
    const SEEDS: &[(usize, &[u8])] = &[
        (510, b"\x55\xaa"),
        (450, b"\xee"),
        (450, b"\x05"),
        (512, b"EFI PART"),
        (4096, b"EFI PART"),
        (1080, b"\x53\xef"),
        (0, b"XFSB"),
        (65600, b"_BHRfS_M"),
        (1024, b"\x10\x20\xf5\xf2"),
        (3, b"EXFAT   "),
        (3, b"NTFS    "),
        (82, b"FAT32   "),
        (4086, b"SWAPSPACE2"),
        (0, b"LUKS\xba\xbe\x00\x02"),
        (512, b"LABELONE"),
        (4096, b"\xfc\x4e\x2b\xa9\x01"),
        (0, b"hsqs"),
        (1024, b"\xe2\xe1\xf5\xe0"),
        (32769, b"CD001\x01"),
        (32769, b"BEA01\x01"),
        (0, b"\x85\x19\x03\x20"),
        (0, b"UBI#\x01"),
        (8, b"littlefs"),
        (131_072, b"\x0c\xb1\xba\x00\x00\x00\x00\x00\x05"),
    ];

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..8192), claimed: u64) {
            let _ = probe(&Medium::new(&bytes.as_slice(), bytes.len() as u64));
            // A device may say that it is larger than what can be read.
            let _ = probe(&Medium::new(&bytes.as_slice(), claimed));
        }

        #[test]
        fn no_bytes_behind_a_magic_make_it_panic(
            noise in prop::collection::vec(any::<u8>(), 1..2048),
            seeds in prop::sample::subsequence(SEEDS, 1..4),
            len in 0_usize..140_000,
        ) {
            let mut bytes: Vec<u8> = noise.iter().copied().cycle().take(len).collect();
            for (at, magic) in seeds {
                if let Some(place) = bytes.get_mut(at..at + magic.len()) {
                    place.copy_from_slice(magic);
                }
            }
            for signature in probe(&Medium::new(&bytes.as_slice(), len as u64)) {
                prop_assert!(!signature.to_string().is_empty());
            }
        }
    }
}
