//! Profile -> table.

use alloc::vec::Vec;

use super::times::{BYTE, CHIP_ERASE, ERASE, LATENCY, PAGE, multiplier};
use super::{BASIC, FOUR_BYTE, SIGNATURE};
use crate::nor::profile::{Profile, QuadEnable, ReadKind};

/// JESD216B: revision 1.6, 16 words.
const REVISION: (u32, u32) = (1, 6);
const BASIC_WORDS: usize = 16;
const FOUR_BYTE_WORDS: usize = 2;
/// Where the first table is: after the header and two parameter headers.
const BASIC_AT: usize = 0x30;

/// The SFDP table of a chip.
pub(in crate::nor) fn encode(profile: &Profile) -> Vec<u8> {
    let four_byte_at = BASIC_AT + 4 * BASIC_WORDS;
    let mut tables = Vec::new();
    tables.push((BASIC, BASIC_AT, basic(profile).to_vec()));
    if profile.four_byte_address {
        tables.push((FOUR_BYTE, four_byte_at, four_byte(profile).to_vec()));
    }
    let mut words = Vec::new();
    words.push(SIGNATURE);
    words.push(0xff << 24 | (tables.len() as u32 - 1) << 16 | REVISION.0 << 8 | REVISION.1);
    for (id, at, table) in &tables {
        let id = u32::from(*id);
        let minor = if id == u32::from(BASIC) { REVISION.1 } else { 0 };
        words.push((table.len() as u32) << 24 | REVISION.0 << 16 | minor << 8 | id & 0xff);
        words.push(id >> 8 << 24 | *at as u32);
    }
    words.resize(BASIC_AT / 4, 0xffff_ffff);
    words.extend(tables.into_iter().flat_map(|(_, _, table)| table));
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn basic(profile: &Profile) -> [u32; BASIC_WORDS] {
    let mut words = [0; BASIC_WORDS];
    words[0] = capabilities(profile);
    // Up to 2 Gbit the number of bits less one, above that its logarithm.
    let bits = profile.capacity_bytes * 8;
    words[1] = u32::try_from(bits - 1).ok().filter(|word| word >> 31 == 0).unwrap_or(1 << 31 | bits.ilog2());
    words[2] = half(profile, ReadKind::QuadIo) | half(profile, ReadKind::QuadOutput) << 16;
    words[3] = half(profile, ReadKind::DualOutput) | half(profile, ReadKind::DualIo) << 16;
    words[4] = 0xffff_ffee; // no 2-2-2, no 4-4-4
    words[5] = 0x0000_ffff;
    words[6] = 0x0000_ffff;
    for (index, erase) in profile.erase_types.iter().enumerate() {
        let half = erase.bytes.ilog2() | u32::from(erase.opcode) << 8;
        words[7 + index / 2] |= half << (16 * (index % 2));
        words[9] |= ERASE.put(erase.typical_ns, 4 + index as u32 * ERASE.width());
    }
    for index in profile.erase_types.len()..4 {
        words[7 + index / 2] |= 0xff00 << (16 * (index % 2)); // size 0: there is no such type
    }
    words[9] |= erase_multiplier(profile, words[9]);
    words[10] = program_word(profile);
    suspend_words(profile, &mut words);
    let release = LATENCY.put(profile.latencies.release_ns, 8);
    words[13] = 0xb9 << 23 | 0xab << 15 | release | 0b01 << 2; // poll bit 0 of status register 1
    let quad_enable = match profile.quad_enable {
        QuadEnable::None => 0,
        QuadEnable::Status1Bit6 => 2,
        QuadEnable::Status2Bit1 => 4,
    };
    words[14] = 0xff << 24 | quad_enable << 20;
    let four_byte = if profile.four_byte_address { 0b0010_0101_u32 << 24 | 1 << 14 } else { 0 };
    words[15] = four_byte | u32::from(profile.software_reset) << 12;
    words
}

fn capabilities(profile: &Profile) -> u32 {
    let has = |kind| u32::from(profile.read_mode(kind).is_some());
    let sector = profile.erase_type(4096);
    let mut word = match sector {
        Some(erase) => 0b01 | u32::from(erase.opcode) << 8,
        None => 0b11 | 0xff << 8,
    };
    word |= 1 << 2; // pages of 64 bytes and more are programmed at once
    word |= 0b111 << 5 | 0xff << 24 | 1 << 23;
    word |= u32::from(profile.four_byte_address) << 17;
    word |= has(ReadKind::DualOutput) << 16 | has(ReadKind::DualIo) << 20;
    word | has(ReadKind::QuadIo) << 21 | has(ReadKind::QuadOutput) << 22
}

/// Dummies, mode clocks and opcode of a read.
fn half(profile: &Profile, kind: ReadKind) -> u32 {
    profile.read_mode(kind).map_or(0, |read| {
        u32::from(read.dummy_clocks) & 0x1f | (u32::from(read.mode_clocks) & 0x7) << 5 | u32::from(read.opcode) << 8
    })
}

/// One multiplier for all erases: none of the maxima is told too low.
fn erase_multiplier(profile: &Profile, word10: u32) -> u32 {
    let told = |index: usize| ERASE.get(word10, 4 + index as u32 * ERASE.width());
    let units = profile.erase_types.iter().enumerate().map(|(index, erase)| (told(index), erase.max_ns));
    let chip = CHIP_ERASE.get(CHIP_ERASE.put(profile.chip_erase_typical_ns, 0), 0);
    multiplier(units.chain([(chip, profile.chip_erase_max_ns)]))
}

fn program_word(profile: &Profile) -> u32 {
    let program = &profile.program;
    let page = PAGE.put(program.page_typical_ns, 8);
    1 << 31
        | CHIP_ERASE.put(profile.chip_erase_typical_ns, 24)
        | BYTE.put(program.next_byte_ns, 19)
        | BYTE.put(program.first_byte_ns, 14)
        | page
        | profile.page_bytes.ilog2() << 4
        | multiplier([(PAGE.get(page, 8), program.page_max_ns)].into_iter())
}

fn suspend_words(profile: &Profile, words: &mut [u32; BASIC_WORDS]) {
    let Some(opcodes) = profile.suspend else {
        words[11] = 1 << 31;
        return;
    };
    let latency_ns = profile.latencies.suspend_ns;
    words[11] = LATENCY.put(latency_ns, 24) | LATENCY.put(latency_ns, 13) | 1 << 8;
    let (suspend, resume) = (u32::from(opcodes.suspend), u32::from(opcodes.resume));
    words[12] = suspend << 24 | resume << 16 | suspend << 8 | resume;
}

fn four_byte(profile: &Profile) -> [u32; FOUR_BYTE_WORDS] {
    let mut words = [0xfff0_0000, 0];
    for (bit, kind) in ReadKind::ALL.into_iter().enumerate() {
        let there = profile.read_mode(kind).is_some_and(|read| read.address4_opcode.is_some());
        words[0] |= u32::from(there) << bit;
    }
    words[0] |= 1 << 6; // 12h
    if let Some(quad) = profile.quad_program {
        words[0] |= 1 << if quad.address_lines == 1 { 7 } else { 8 };
    }
    for index in 0..4 {
        let opcode = profile.erase_types.get(index).and_then(|erase| erase.address4_opcode);
        words[0] |= u32::from(opcode.is_some()) << (9 + index);
        words[1] |= u32::from(opcode.unwrap_or(0xff)) << (8 * index);
    }
    words
}
