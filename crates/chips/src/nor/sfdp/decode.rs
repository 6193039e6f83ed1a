//! Dump -> profile.

use alloc::string::String;
use alloc::vec::Vec;

use super::times::{BYTE, CHIP_ERASE, ERASE, LATENCY, PAGE, max_ns};
use super::{BASIC, FOUR_BYTE, SFDP_CLOCK_HZ, SIGNATURE, SfdpError, bits, word};
use crate::nor::profile::{
    ContinuousRead, EraseType, Latencies, Profile, ProgramTiming, QuadEnable, QuadProgram, ReadKind, ReadMode,
    SfdpSource, SuspendOpcodes,
};

impl Profile {
    /// A chip as its SFDP table describes it: a binary dump from address 0 on, with times (JESD216A or later).
    ///
    /// What the table does not tell is taken as usual: clocks of [`SFDP_CLOCK_HZ`], half of a program's time spent whatever
    /// the data, erase times within a tenth of the typical one, an endurance of 100,000, quad enabled, three status registers
    /// (one where the quad enable bit is in the first), quad programs as the maker's other chips have them. The JEDEC id is the capacity's and,
    /// where the dump has a maker's table, the maker's; set it if it matters. The profile keeps the dump as the chip's
    /// answer to Read SFDP.
    ///
    /// # Errors
    /// A dump that is none, that is too short, that tells no times, or that describes an impossible chip.
    pub fn from_sfdp(name: &str, dump: &[u8]) -> Result<Self, SfdpError> {
        let tables = Tables::find(dump)?;
        let basic = Basic { words: tables.basic };
        let capacity_bytes = basic.capacity_bytes()?;
        let quad_enable = basic.quad_enable();
        let reads = basic.reads(tables.four_byte_word(1));
        let profile = Self {
            name: String::from(name),
            manufacturer: String::from("unknown"),
            jedec_id: [tables.maker, 0, capacity_bytes.ilog2() as u8],
            electronic_id: (capacity_bytes.ilog2() as u8).saturating_sub(1),
            capacity_bytes,
            page_bytes: 1 << bits(basic.word(11), 4, 4),
            erase_types: basic.erase_types(tables.four_byte_word(1), tables.four_byte_word(2)),
            chip_erase_typical_ns: CHIP_ERASE.get(basic.word(11), 24),
            chip_erase_max_ns: max_ns(CHIP_ERASE.get(basic.word(11), 24), bits(basic.word(10), 0, 4)),
            program: basic.program(),
            blank_erase_ns: None,
            erase_spread_permille: 100,
            erase_wear_permille: 0,
            latencies: basic.latencies(),
            quad_program: quad_program(&reads, quad_enable),
            reads,
            clock_max_hz: SFDP_CLOCK_HZ,
            quad_enable,
            quad_enabled: true,
            continuous_read: ContinuousRead::None,
            four_byte_address: tables.has_four_byte_address(),
            suspend: basic.suspend(),
            status_registers: if quad_enable == QuadEnable::Status1Bit6 { 1 } else { 3 },
            unique_id: true,
            // Word 16 bit 12: 66h, 99h.
            software_reset: basic.words.len() < 64 || bits(basic.word(16), 12, 1) == 1,
            endurance_cycles: 100_000,
            sfdp: SfdpSource::Dump(dump.to_vec()),
        };
        profile.check()?;
        Ok(profile)
    }
}

/// The dump's parameter tables.
struct Tables<'a> {
    basic: &'a [u8],
    four_byte: Option<&'a [u8]>,
    maker: u8,
}

impl<'a> Tables<'a> {
    fn find(dump: &'a [u8]) -> Result<Self, SfdpError> {
        if word(dump, 1) != Some(SIGNATURE) {
            return Err(SfdpError::Signature);
        }
        let header = word(dump, 2).ok_or(SfdpError::Short { bytes: dump.len(), needed: 8 })?;
        let (mut basic, mut four_byte, mut maker) = (None, None, 0);
        for index in 0..=bits(header, 16, 8) as usize {
            let (low, high) = word(dump, 3 + 2 * index)
                .zip(word(dump, 4 + 2 * index))
                .ok_or(SfdpError::Short { bytes: dump.len(), needed: 16 + 8 * index })?;
            let start = bits(high, 0, 24) as usize;
            let end = start + bits(low, 24, 8) as usize * 4;
            let (id_low, id_high) = (bits(low, 0, 8) as u16, bits(high, 24, 8) as u16);
            match id_high << 8 | id_low {
                // A table can be there more than once, the newest last; they begin alike.
                BASIC => {
                    let bytes = dump.len();
                    basic = Some(dump.get(start..end).ok_or(SfdpError::Short { bytes, needed: end })?);
                }
                FOUR_BYTE => four_byte = dump.get(start..end),
                // Makers' tables are named by their JEDEC id, which has an odd number of ones; JEDEC's own have an even one.
                _ if id_low.count_ones() % 2 == 1 => maker = id_low as u8,
                _ => {}
            }
        }
        let basic = basic.ok_or(SfdpError::NoBasicTable)?;
        if basic.len() < 11 * 4 {
            return Err(SfdpError::NoTimes { words: (basic.len() / 4) as u8 });
        }
        Ok(Self { basic, four_byte, maker })
    }

    /// Word 1, address bytes: "3", "3 or 4", "4". The way into the four-byte mode is not looked at: tables of chips without
    /// one have all ones there (MX25R6435F).
    fn has_four_byte_address(&self) -> bool {
        word(self.basic, 1).is_some_and(|word| matches!(bits(word, 17, 2), 1 | 2))
    }

    fn four_byte_word(&self, number: usize) -> u32 {
        let table = self.four_byte.filter(|_| self.has_four_byte_address());
        table.and_then(|table| word(table, number)).unwrap_or(0)
    }
}

/// The basic flash parameter table; words that an older one lacks are 0, or all ones where the standard says so.
struct Basic<'a> {
    words: &'a [u8],
}

impl Basic<'_> {
    fn word(&self, number: usize) -> u32 {
        word(self.words, number).unwrap_or(0)
    }

    fn capacity_bytes(&self) -> Result<u64, SfdpError> {
        let word = self.word(2);
        let density_bits =
            if word >> 31 == 0 { Some(u64::from(word) + 1) } else { 1_u64.checked_shl(word & 0x7fff_ffff) };
        density_bits
            .map(|bits| bits / 8)
            .filter(|bytes| bytes.is_power_of_two() && (4096..=1 << 32).contains(bytes))
            .ok_or(SfdpError::Density { word })
    }

    fn reads(&self, four_byte: u32) -> Vec<ReadMode> {
        let (capabilities, quad, dual) = (self.word(1), self.word(3), self.word(4));
        // Kind, whether it is there, the half word that describes it, its bit in the four-byte table.
        let tried = [
            (ReadKind::Read, true, 0x0300, 0),
            (ReadKind::Fast, true, 0x0b08, 1),
            (ReadKind::DualOutput, bits(capabilities, 16, 1) == 1, dual, 2),
            (ReadKind::DualIo, bits(capabilities, 20, 1) == 1, dual >> 16, 3),
            (ReadKind::QuadOutput, bits(capabilities, 22, 1) == 1, quad >> 16, 4),
            (ReadKind::QuadIo, bits(capabilities, 21, 1) == 1, quad, 5),
        ];
        let mode = |(kind, _, half, bit): (ReadKind, bool, u32, u32)| ReadMode {
            kind,
            opcode: bits(half, 8, 8) as u8,
            address4_opcode: (bits(four_byte, bit, 1) == 1).then_some(kind.usual_opcodes().1),
            mode_clocks: bits(half, 5, 3) as u8,
            dummy_clocks: bits(half, 0, 5) as u8,
            clock_max_hz: SFDP_CLOCK_HZ,
        };
        tried.into_iter().filter(|read| read.1).map(mode).collect()
    }

    fn erase_types(&self, four_byte: u32, four_byte_opcodes: u32) -> Vec<EraseType> {
        let mut types = Vec::new();
        for index in 0..4 {
            let half = self.word(8 + index as usize / 2) >> (16 * (index % 2));
            let exponent = bits(half, 0, 8);
            if exponent == 0 || exponent > 31 {
                continue;
            }
            let typical_ns = ERASE.get(self.word(10), 4 + index * ERASE.width());
            let opcode = bits(four_byte_opcodes, 8 * index, 8) as u8;
            types.push(EraseType {
                opcode: bits(half, 8, 8) as u8,
                address4_opcode: (bits(four_byte, 9 + index, 1) == 1).then_some(opcode),
                bytes: 1 << exponent,
                typical_ns,
                max_ns: max_ns(typical_ns, bits(self.word(10), 0, 4)),
            });
        }
        types.sort_by_key(|erase| erase.bytes);
        types
    }

    fn program(&self) -> ProgramTiming {
        let word = self.word(11);
        let page_typical_ns = PAGE.get(word, 8);
        ProgramTiming {
            first_byte_ns: BYTE.get(word, 14).min(page_typical_ns),
            next_byte_ns: BYTE.get(word, 19),
            page_typical_ns,
            page_max_ns: max_ns(page_typical_ns, bits(word, 0, 4)),
            unchanged_permille: 500,
        }
    }

    /// Word 12 bit 31, word 14 bit 31: 0 means that the chip can do it.
    fn latencies(&self) -> Latencies {
        let (suspend, power) = (self.word(12), self.word(14));
        let erase_suspend_ns = LATENCY.get(suspend, 24);
        let program_suspend_ns = LATENCY.get(suspend, 13);
        Latencies {
            write_status_ns: 10_000_000,
            suspend_ns: if self.suspend().is_some() { erase_suspend_ns.max(program_suspend_ns) } else { 0 },
            resume_ns: 0,
            power_down_ns: 3_000,
            release_ns: if self.words.len() >= 56 && power >> 31 == 0 { LATENCY.get(power, 8) } else { 30_000 },
            reset_ns: 30_000,
        }
    }

    fn suspend(&self) -> Option<SuspendOpcodes> {
        let there = self.words.len() >= 52 && self.word(12) >> 31 == 0;
        let opcodes = self.word(13);
        there.then(|| SuspendOpcodes { suspend: bits(opcodes, 24, 8) as u8, resume: bits(opcodes, 16, 8) as u8 })
    }

    /// Word 15, quad enable requirements.
    fn quad_enable(&self) -> QuadEnable {
        if self.words.len() < 60 {
            return QuadEnable::None;
        }
        match bits(self.word(15), 20, 3) {
            2 => QuadEnable::Status1Bit6,
            1 | 4 | 5 | 6 => QuadEnable::Status2Bit1,
            _ => QuadEnable::None,
        }
    }
}

/// The tables do not tell of quad programs. Chips with quad enable in status register 1 are Macronix's and their like.
fn quad_program(reads: &[ReadMode], quad_enable: QuadEnable) -> Option<QuadProgram> {
    reads.iter().any(|read| read.kind.data_lines() == 4).then_some(match quad_enable {
        QuadEnable::Status1Bit6 => QuadProgram { opcode: 0x38, address_lines: 4 },
        _ => QuadProgram { opcode: 0x32, address_lines: 1 },
    })
}
