//! A chip to test with, close to a W25Q32JV.
#![allow(dead_code, missing_docs)]

use flashmark_chips::nor::{
    ContinuousRead, EraseType, Latencies, Profile, ProgramTiming, QuadEnable, QuadProgram, ReadKind, ReadMode,
    SfdpSource, SuspendOpcodes,
};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;

pub fn profile() -> Profile {
    let read = |kind: ReadKind, mode_clocks, dummy_clocks, mhz: u32| ReadMode {
        kind,
        opcode: kind.usual_opcodes().0,
        address4_opcode: None,
        mode_clocks,
        dummy_clocks,
        clock_max_hz: mhz * 1_000_000,
    };
    let erase = |opcode, bytes, typical_ms, max_ms| EraseType {
        opcode,
        address4_opcode: None,
        bytes,
        typical_ns: typical_ms * MS,
        max_ns: max_ms * MS,
    };
    Profile {
        name: "W25Q32JV".into(),
        manufacturer: "Winbond".into(),
        jedec_id: [0xef, 0x40, 0x16],
        electronic_id: 0x15,
        capacity_bytes: 4 << 20,
        page_bytes: 256,
        erase_types: vec![erase(0x20, 4096, 45, 400), erase(0x52, 32768, 120, 1600), erase(0xd8, 65536, 150, 2000)],
        chip_erase_typical_ns: 10_000 * MS,
        chip_erase_max_ns: 50_000 * MS,
        program: ProgramTiming {
            first_byte_ns: 30 * US,
            next_byte_ns: 2_500,
            page_typical_ns: 400 * US,
            page_max_ns: 3 * MS,
            unchanged_permille: 500,
        },
        blank_erase_ns: None,
        erase_spread_permille: 100,
        erase_wear_permille: 0,
        latencies: Latencies {
            write_status_ns: 10 * MS,
            suspend_ns: 20 * US,
            resume_ns: 0,
            power_down_ns: 3 * US,
            release_ns: 3 * US,
            reset_ns: 30 * US,
        },
        reads: vec![
            read(ReadKind::Read, 0, 0, 50),
            read(ReadKind::Fast, 0, 8, 133),
            read(ReadKind::DualOutput, 0, 8, 133),
            read(ReadKind::DualIo, 2, 2, 133),
            read(ReadKind::QuadOutput, 0, 8, 133),
            read(ReadKind::QuadIo, 2, 4, 133),
        ],
        clock_max_hz: 133_000_000,
        quad_program: Some(QuadProgram { opcode: 0x32, address_lines: 1 }),
        quad_enable: QuadEnable::Status2Bit1,
        quad_enabled: false,
        continuous_read: ContinuousRead::Bits54,
        four_byte_address: false,
        suspend: Some(SuspendOpcodes { suspend: 0x75, resume: 0x7a }),
        status_registers: 3,
        unique_id: true,
        software_reset: true,
        endurance_cycles: 100_000,
        sfdp: SfdpSource::Generated,
    }
}

/// A chip of 128 MiB with four-byte addresses.
pub fn large() -> Profile {
    let mut profile = profile();
    profile.name = "W25Q01JV".into();
    profile.capacity_bytes = 128 << 20;
    profile.four_byte_address = true;
    for read in &mut profile.reads {
        read.address4_opcode = Some(read.kind.usual_opcodes().1);
    }
    profile.erase_types[0].address4_opcode = Some(0x21);
    profile.erase_types[2].address4_opcode = Some(0xdc);
    profile
}
