//! Simulated flash chips at command level, in virtual time.
//!
//! * [`nor`]: SPI NOR flash: what a chip is ([`nor::Profile`]), the chip itself ([`nor::Chip`]), and two ways to it: serial
//!   commands ([`nor::Wire`], an `embedded_hal` SPI device) and `embedded_storage`'s traits ([`nor::Flash`]);
//! * [`fault`], [`trace`]: wrappers that go around any `NorFlash`: power cuts, counters, traces;
//! * [`delay`]: `embedded_hal`'s delays on virtual time.
//!
//! A chip has no clock of its own. Whoever calls it says what time it is, and the chip tells until when it is busy; the
//! adapters take the time from a [`flashmark_core::ledger::Ledger`] and spend it there. Nothing here waits, and the same
//! calls with the same seed give the same chip, byte for byte and nanosecond for nanosecond.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "profiles")]
extern crate std;

pub mod delay;
pub mod fault;
pub mod nor;
mod random;
pub mod trace;
