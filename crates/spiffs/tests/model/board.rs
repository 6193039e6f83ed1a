//! A flash chip to run on.

use flashmark_chips::nor::{self, FlashError};
use spiffs::{Flash, Nor};

use crate::ram::{Fault, Rules};

/// The chip of flashmark, with the rules of [`Rules`] before it: the chip counts bits that should have risen
/// (`Overwrite::Count`), as SPIFFS lets some on purpose.
pub struct Board<'c> {
    pub flash: Nor<nor::Flash<'c>>,
    pub rules: Rules,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardFault {
    Rule(Fault),
    Chip(FlashError),
}

impl Flash for Board<'_> {
    type Error = BoardFault;

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), BoardFault> {
        self.rules.check_access(address, into.len()).map_err(BoardFault::Rule)?;
        self.flash.read(address, into).map_err(BoardFault::Chip)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), BoardFault> {
        self.rules.check_access(address, data.len()).map_err(BoardFault::Rule)?;
        let mut old = vec![0; data.len()];
        self.flash.read(address, &mut old).map_err(BoardFault::Chip)?;
        self.rules.check_program(address, data, &old).map_err(BoardFault::Rule)?;
        self.flash.program(address, data).map_err(BoardFault::Chip)
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), BoardFault> {
        self.rules.check_erase(address, bytes).map_err(BoardFault::Rule)?;
        self.flash.erase(address, bytes).map_err(BoardFault::Chip)
    }
}
