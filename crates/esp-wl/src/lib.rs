//! ESP-IDF wear levelling, compatible on flash with the original (its component `wear_levelling`, version 2 of the
//! format), without allocation, over any [`NorFlash`](embedded_storage::nor_flash::NorFlash).
//!
//! # How it works
//!
//! A partition of n sectors holds, from its start, the data sectors and one dummy sector; at its end two states of
//! ceil((64 + 16 n) / 4096) sectors each and one sector with the configuration. After every 16 erases the dummy changes
//! places with the sector behind it: the dummy is erased, the sector copied into it in pieces of 32 bytes, and a move
//! record of 16 bytes appended to both states. When the dummy has come round, all data is rotated by one sector, and both
//! states are erased and written anew. Mounting reads both states and the first state's move records one after the other
//! up to the first unset one. Erases since the last move are only counted in memory; [`WearLevelling::flush`] moves at
//! once, as the original does at unmounting.
//!
//! [`WearLevelling`] has sectors of 4096 bytes; [`SmallSectors`] are the 512-byte sectors of ESP-IDF's performance and
//! safety modes. [`Observer`] is told which operations are wear levelling's own.
//!
//! ```
//! # use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
//! # struct Flash(Vec<u8>);
//! # impl ErrorType for Flash { type Error = core::convert::Infallible; }
//! # impl ReadNorFlash for Flash {
//! #     const READ_SIZE: usize = 1;
//! #     fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
//! #         Ok(bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]))
//! #     }
//! #     fn capacity(&self) -> usize { self.0.len() }
//! # }
//! # impl NorFlash for Flash {
//! #     const WRITE_SIZE: usize = 1;
//! #     const ERASE_SIZE: usize = 4096;
//! #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
//! #         Ok(self.0[from as usize..to as usize].fill(0xFF))
//! #     }
//! #     fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
//! #         Ok(self.0[offset as usize..].iter_mut().zip(bytes).for_each(|(old, new)| *old &= new))
//! #     }
//! # }
//! # let flash = Flash(vec![0xFF; 1 << 20]);
//! use esp_wl::{Config, WearLevelling};
//!
//! let mut volume = WearLevelling::mount(flash, Config::esp_idf(1 << 20), ())?;
//! assert_eq!(volume.size_bytes(), (1 << 20) - 6 * 4096);
//! volume.erase_sector(3)?;
//! volume.write(3 * 4096, b"levelled")?;
//! volume.flush()?;
//! # Ok::<(), esp_wl::Error<core::convert::Infallible>>(())
//! ```
//!
//! # Same operations
//!
//! Reads, programs and erases of the flash are the original's, in number, order, place and size, for all calls on a
//! sound partition, with two exceptions: [`Recovery::Complete`] reads 16 bytes more at mounting, and a transfer that is
//! divided where the original goes astray (below). [`Recovery::EspIdf`] is without the first. The tests compare with
//! recordings of the original's code.
//!
//! The flash must allow what the original needs: programming bits that are 0 already, when a move or a move record that
//! was cut short is repeated.
//!
//! # Power cuts
//!
//! With [`Recovery::Complete`], the default, a cut in any program or erase, with no, partial or whole effect, also while
//! a mount mends what an earlier cut left, loses nothing but the sector being erased or the bytes being written. What is
//! mended is in order for the original too. The original, and [`Recovery::EspIdf`], lose data in these cases:
//!
//! 1. *Position forgotten.* The cut comes while the first state is erased or written at the end of a round. The next
//!    mount writes it anew from the second, but recognises the second's move records only if the device's identity can
//!    still be read from the first, so usually copies none. It goes on with the right position, in memory; if the next
//!    move is not made before another reset, the mount after that finds no record, takes the dummy to be at the start
//!    and shifts all sectors by one. A cut between writing the header and the last record has the same effect.
//! 2. *Torn state trusted.* The same erase takes the move records and leaves the 64 bytes of the header. The mount finds
//!    two good headers and no record.
//! 3. *State destroyed at another time.* If a state loses its header in mid-round, by whatever cause, the original takes
//!    the dummy to be at the end (first state) or at the start (second).
//! 4. *Update from version 1.* After a cut the one state is of version 1 and the other incomplete: the original formats,
//!    or finds too few records.
//!
//! Complete recovery takes the position from whatever records are left, writes them before the header, so that an
//! incomplete state is never valid, and at mounting looks for the second state's last record, which betrays case 2.
//!
//! In [`SmallSectorMode::Performance`] a cut loses the other small sectors of the flash sector being erased; that is its
//! nature. In [`SmallSectorMode::Safety`] the transaction record has no checksum: torn, it can make the original erase
//! any sector. Records that name impossible sectors are ignored here. There remains a record with an intact first word
//! and another possible sector, which an interrupted erase can leave with a chance below one in a hundred thousand.
//!
//! # Other differences from the original
//!
//! * A transfer that starts within a sector and crosses into another is made in one piece as long as both are neighbours
//!   on the flash. Where they are not, the original reads or programs the dummy or another sector's data; here the piece
//!   is divided. FAT with 512-byte sectors meets that.
//! * Accesses beyond the volume and unaligned erases are refused; the original starts over at the beginning, or rounds.
//! * A valid state of another partition size is refused; the original uses it.
//! * [`WearLevelling::open`] never formats. [`WearLevelling::mount`] formats, like the original, also if both states are
//!   corrupt.
//! * 12 bytes of padding in the configuration record are 0; in the original they are what the stack held.
//! * The device's identity is drawn by the caller.
//!
//! Like the original, mounting neither checks the configuration record nor writes one that a cut formatting left out.
#![no_std]
#![forbid(unsafe_code)]

mod config;
mod crc32;
mod error;
mod levelling;
mod mount;
mod nor_flash;
mod observer;
mod record;
mod small_sectors;

pub use config::{COPY_BYTES_MAX, Config, Layout, Recovery};
pub use crc32::crc32_le;
pub use error::Error;
pub use levelling::{Stats, WearLevelling};
pub use observer::Observer;
pub use record::{CONFIG_BYTES, RECORD_BYTES, STATE_BYTES, State, VERSION};
pub use small_sectors::{SmallSectorMode, SmallSectors};
