//! Serial commands: what goes over the lines, and how long it takes.
#![allow(clippy::unwrap_used)]

mod common;

use core::cell::RefCell;

use common::{MS, US, large, profile};
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation as Spi, SpiDevice};
use flashmark_chips::delay::Delay;
use flashmark_chips::nor::{Chip, ContinuousRead, Lines, Operation, Phase, Profile, ReadKind, Violation, Wire};
use flashmark_core::clock::Clock;
use flashmark_core::ledger::{Account, Ledger};
use proptest::prelude::*;

const CLOCK_HZ: u32 = 50_000_000;
const CLOCK_NS: u64 = 20;

fn with_wire<T>(profile: Profile, test: impl FnOnce(&mut Wire<'_>, &RefCell<Chip>, &Ledger) -> T) -> T {
    let chip = RefCell::new(Chip::new(profile, 7).unwrap());
    let ledger = Ledger::new();
    let mut wire = Wire::new(&chip, &ledger, CLOCK_HZ).unwrap();
    test(&mut wire, &chip, &ledger)
}

/// One line: sends, then receives.
fn ask(wire: &mut Wire<'_>, send: &[u8], receive: usize) -> Vec<u8> {
    let mut buf = vec![0; receive];
    wire.transaction(&mut [Spi::Write(send), Spi::Read(&mut buf)]).unwrap();
    buf
}

fn send(wire: &mut Wire<'_>, bytes: &[u8]) -> Result<(), Violation> {
    wire.transact(&mut [Phase::Write(Lines::One, bytes)])
}

fn wait(wire: &mut Wire<'_>) {
    while ask(wire, &[0x05], 1)[0] & 1 != 0 {}
}

#[test]
fn identifications() {
    with_wire(profile(), |wire, chip, ledger| {
        assert_eq!(ask(wire, &[0x9f], 3), [0xef, 0x40, 0x16]);
        assert_eq!(ledger.now_ns(), 4 * 8 * CLOCK_NS);
        assert_eq!(ask(wire, &[0x90, 0, 0, 0], 2), [0xef, 0x15]);
        assert_eq!(ask(wire, &[0x90, 0, 0, 1], 2), [0x15, 0xef]);
        assert_eq!(ask(wire, &[0xab, 0, 0, 0], 1), [0x15]);
        assert_eq!(ask(wire, &[0x4b, 0, 0, 0, 0], 8), chip.borrow().unique_id());
        // All at once, in full duplex.
        let mut buf = [0x9f, 0, 0, 0];
        wire.transfer_in_place(&mut buf).unwrap();
        assert_eq!(buf[1..], [0xef, 0x40, 0x16]);
        let mut id = [0; 4];
        wire.transfer(&mut id, &[0x9f]).unwrap();
        assert_eq!(id[1..], [0xef, 0x40, 0x16]);
        assert_eq!(ledger.spent().total_ns(), ledger.spent().account_ns(Account::Bus));
        assert_eq!(chip.borrow().violations(), []);
    });
}

#[test]
fn a_driver_can_discover_the_chip() {
    with_wire(profile(), |wire, _, _| {
        let table = ask(wire, &[0x5a, 0, 0, 0, 0xff], 256);
        let told = Profile::from_sfdp("told", &table).unwrap();
        assert_eq!(told.capacity_bytes, 4 << 20);
        assert_eq!(told.erase_types.len(), 3);
        assert_eq!(told.erase_type(4096).unwrap().typical_ns, 48 * MS, "45 ms in units of 16 ms");
        assert_eq!(told.read_mode(ReadKind::QuadIo).unwrap().dummy_clocks, 4);
        // From an address on.
        assert_eq!(ask(wire, &[0x5a, 0, 0, 0x30, 0], 4), table[0x30..0x34]);
    });
}

#[test]
fn every_read_has_its_mode_and_dummy_clocks() {
    let data: Vec<u8> = (0..32).map(|byte| byte * 7 + 1).collect();
    // Opcode, lines of address, mode and dummy clocks, lines of data, clocks of the whole with 32 bytes (data sheet).
    let reads = [
        (0x03, Lines::One, 0, Lines::One, 8 + 24 + 256),
        (0x0b, Lines::One, 8, Lines::One, 8 + 24 + 8 + 256),
        (0x3b, Lines::One, 8, Lines::Two, 8 + 24 + 8 + 128),
        (0xbb, Lines::Two, 4, Lines::Two, 8 + 12 + 4 + 128),
        (0x6b, Lines::One, 8, Lines::Four, 8 + 24 + 8 + 64),
        (0xeb, Lines::Four, 6, Lines::Four, 8 + 6 + 6 + 64),
    ];
    with_wire(profile(), |wire, chip, ledger| {
        chip.borrow_mut().load(0x12_3450, &data).unwrap();
        send(wire, &[0x50]).unwrap();
        send(wire, &[0x31, 0x02]).unwrap();
        for ((opcode, address_lines, dummies, data_lines, clocks), kind) in reads.into_iter().zip(ReadKind::ALL) {
            let mut buf = [0; 32];
            let before_ns = ledger.now_ns();
            wire.transact(&mut [
                Phase::Write(Lines::One, &[opcode]),
                Phase::Write(address_lines, &[0x12, 0x34, 0x50]),
                Phase::Clocks(dummies),
                Phase::Read(data_lines, &mut buf),
            ])
            .unwrap();
            assert_eq!(buf, data[..], "{opcode:#x}");
            assert_eq!(ledger.now_ns() - before_ns, clocks * CLOCK_NS, "{opcode:#x}");
            let told = profile().read_mode(kind).unwrap().clocks(3, 32);
            assert_eq!(told, clocks, "{opcode:#x}");

            // Dummies as bytes, the data in two parts.
            let filler = vec![0xff; dummies as usize * usize::from(address_lines.count()) / 8];
            let (first, second) = buf.split_at_mut(5);
            wire.transact(&mut [
                Phase::Write(Lines::One, &[opcode]),
                Phase::Write(address_lines, &[0x12, 0x34, 0x50]),
                Phase::Write(address_lines, &filler),
                Phase::Read(data_lines, first),
                Phase::Read(data_lines, second),
            ])
            .unwrap();
            assert_eq!(buf, data[..], "{opcode:#x}");
        }
        assert_eq!(chip.borrow().counters().reads, 12);
        assert_eq!(chip.borrow().counters().read_bytes, 12 * 32);
    });
}

#[test]
fn one_line_is_not_four() {
    with_wire(profile(), |wire, chip, _| {
        chip.borrow_mut().load(0, &[1, 2, 3]).unwrap();
        let quad_disabled = Err(Violation::QuadDisabled { opcode: 0xeb });
        let mut buf = [0; 3];
        let result = wire
            .transact(&mut [Phase::Write(Lines::One, &[0xeb, 0, 0, 0, 0, 0, 0]), Phase::Read(Lines::One, &mut buf)]);
        assert_eq!((result, buf), (quad_disabled, [0xff; 3]));
        send(wire, &[0x06]).unwrap();
        send(wire, &[0x01, 0x00, 0x02]).unwrap();
        wait(wire);
        assert_eq!(ask(wire, &[0x35], 1), [0x02]);
        let result = wire
            .transact(&mut [Phase::Write(Lines::One, &[0xeb, 0, 0, 0, 0, 0, 0]), Phase::Read(Lines::One, &mut buf)]);
        assert_eq!((result, buf), (Err(Violation::WrongLines { opcode: 0xeb, expected: 4, got: 1 }), [0xff; 3]));
        let result =
            wire.transact(&mut [Phase::Write(Lines::One, &[0x3b, 0, 0, 0, 0]), Phase::Read(Lines::One, &mut buf)]);
        assert_eq!(result, Err(Violation::WrongLines { opcode: 0x3b, expected: 2, got: 1 }));
        let result = wire.transact(&mut [
            Phase::Write(Lines::One, &[0x6b, 0, 0, 0]),
            Phase::Clocks(7),
            Phase::Read(Lines::Four, &mut buf),
        ]);
        assert_eq!(result, Err(Violation::Malformed { opcode: 0x6b }), "a dummy clock too few");
    });
}

#[test]
fn programs_and_erases_over_the_wire() {
    with_wire(profile(), |wire, chip, ledger| {
        send(wire, &[0x06]).unwrap();
        assert_eq!(ask(wire, &[0x05], 1), [0x02]);
        send(wire, &[0x02, 0x01, 0x02, 0x03, 0xde, 0xad]).unwrap();
        assert_eq!(ask(wire, &[0x05], 2), [0x03, 0x03]);
        wait(wire);
        assert_eq!(ask(wire, &[0x03, 0x01, 0x02, 0x02], 4), [0xff, 0xde, 0xad, 0xff]);

        // Status while it is read on and on: it falls when the program ends.
        send(wire, &[0x06]).unwrap();
        let start_ns = ledger.now_ns();
        send(wire, &[0x02, 0, 0, 0, 0x0f]).unwrap();
        let polls = ask(wire, &[0x05], 250);
        let busy = polls.iter().filter(|status| **status & 1 == 1).count() as u64;
        let program_ns = 30 * US;
        let clocks_before = 8;
        assert_eq!(busy, (program_ns - clocks_before * CLOCK_NS).div_ceil(8 * CLOCK_NS) - 1, "{start_ns}");

        send(wire, &[0x50]).unwrap();
        send(wire, &[0x31, 0x02]).unwrap();
        send(wire, &[0x06]).unwrap();
        wire.transact(&mut [
            Phase::Write(Lines::One, &[0x32, 0x02, 0, 0xfe]),
            Phase::Write(Lines::Four, &[0x11]),
            Phase::Write(Lines::Four, &[0x22]),
        ])
        .unwrap();
        wait(wire);
        assert_eq!(ask(wire, &[0x0b, 0x02, 0, 0xfe, 0], 2), [0x11, 0x22]);

        for opcode in [0x20, 0x52, 0xd8] {
            send(wire, &[0x06]).unwrap();
            send(wire, &[opcode, 0x01, 0x00, 0x10]).unwrap();
            wait(wire);
        }
        assert_eq!(ask(wire, &[0x03, 0x01, 0x02, 0x02], 4), [0xff; 4]);
        for opcode in [0xc7, 0x60] {
            send(wire, &[0x06]).unwrap();
            send(wire, &[opcode]).unwrap();
            Delay::on(ledger, Account::Cpu).delay_ms(11_000);
            wait(wire);
        }
        assert_eq!(chip.borrow().counters().erases_by_type, [1, 1, 1, 0]);
        assert_eq!(chip.borrow().counters().chip_erases, 2);
        assert_eq!(chip.borrow().violations(), []);
        assert_eq!(ledger.spent().account_ns(Account::Cpu), 22_000 * MS);
    });
}

#[test]
fn suspend_power_down_and_reset_over_the_wire() {
    with_wire(profile(), |wire, chip, ledger| {
        let mut delay = Delay::new(ledger);
        send(wire, &[0x06]).unwrap();
        send(wire, &[0xd8, 0, 0, 0]).unwrap();
        send(wire, &[0x75]).unwrap();
        wait(wire);
        assert_eq!(ask(wire, &[0x35], 1), [0x80]);
        send(wire, &[0x7a]).unwrap();
        assert_eq!((ask(wire, &[0x35], 1), ask(wire, &[0x05], 1)), (vec![0], vec![3]));
        delay.delay_ms(200);
        send(wire, &[0xb9]).unwrap();
        delay.delay_us(3);
        assert_eq!(ask(wire, &[0x9f], 3), [0xff; 3]);
        let asleep = Violation::PowerDown { operation: Operation::Identify };
        assert_eq!(chip.borrow().violations(), [asleep]);
        send(wire, &[0xab]).unwrap();
        delay.delay_us(3);
        assert_eq!(ask(wire, &[0x9f], 1), [0xef]);

        assert_eq!(send(wire, &[0x99]), Err(Violation::Malformed { opcode: 0x99 }), "not enabled");
        send(wire, &[0x66]).unwrap();
        send(wire, &[0x04]).unwrap();
        assert_eq!(send(wire, &[0x99]), Err(Violation::Malformed { opcode: 0x99 }), "not right before");
        send(wire, &[0x06]).unwrap();
        send(wire, &[0x66]).unwrap();
        send(wire, &[0x99]).unwrap();
        delay.delay_us(30);
        assert_eq!(ask(wire, &[0x05], 1), [0]);
    });
}

#[test]
fn broken_commands_are_ignored_and_reported() {
    with_wire(profile(), |wire, chip, _| {
        assert_eq!(send(wire, &[0x77, 1, 2]), Err(Violation::UnknownOpcode { opcode: 0x77 }));
        assert_eq!(send(wire, &[0xb7]), Err(Violation::UnknownOpcode { opcode: 0xb7 }));
        send(wire, &[]).unwrap();
        send(wire, &[0x06]).unwrap();
        let malformed = |opcode| Err(Violation::Malformed { opcode });
        assert_eq!(send(wire, &[0x20, 0, 0]), malformed(0x20));
        assert_eq!(send(wire, &[0x20, 0, 0, 0, 0]), malformed(0x20));
        assert_eq!(send(wire, &[0x02, 0, 0, 0]), malformed(0x02));
        assert_eq!(send(wire, &[0x03, 0, 0]), malformed(0x03));
        assert_eq!(send(wire, &[0x06, 0x06]), malformed(0x06));
        assert_eq!(send(wire, &[0x01]), malformed(0x01));
        assert_eq!(ask(wire, &[0x05], 1), [0x02], "still enabled, and nothing under way");
        send(wire, &[0x20, 0, 0, 0]).unwrap();
        assert!(matches!(send(wire, &[0x06]), Err(Violation::Busy { operation: Operation::WriteEnable, .. })));
        assert_eq!(ask(wire, &[0x03, 0, 0, 0], 2), [0xff; 2]);
        assert!(matches!(chip.borrow().violations().last(), Some(Violation::Busy { operation: Operation::Read, .. })));
        assert_eq!(chip.borrow().counters().erases, 1);
    });
    let mut slow = profile();
    slow.reads[0].clock_max_hz = 33_000_000;
    with_wire(slow, |wire, chip, _| {
        chip.borrow_mut().load(0, &[5]).unwrap();
        assert_eq!(ask(wire, &[0x03, 0, 0, 0], 1), [5]);
        let too_fast = Violation::TooFast { opcode: 0x03, clock_hz: CLOCK_HZ, max_hz: 33_000_000 };
        assert_eq!(chip.borrow().violations(), [too_fast]);
    });
}

#[test]
fn four_byte_addresses() {
    with_wire(large(), |wire, chip, _| {
        let far = 0x0512_3456;
        chip.borrow_mut().load(far, &[9, 8, 7]).unwrap();
        assert_eq!(ask(wire, &[0x13, 0x05, 0x12, 0x34, 0x56], 3), [9, 8, 7]);
        assert_eq!(ask(wire, &[0x0c, 0x05, 0x12, 0x34, 0x56, 0], 3), [9, 8, 7]);
        assert_eq!(ask(wire, &[0x03, 0x12, 0x34, 0x56], 3), [0xff; 3]);
        send(wire, &[0x50]).unwrap();
        send(wire, &[0x31, 0x02]).unwrap();
        for (opcode, address_lines, dummies, data_lines) in [
            (0x3c, Lines::One, 8, Lines::Two),
            (0xbc, Lines::Two, 4, Lines::Two),
            (0x6c, Lines::One, 8, Lines::Four),
            (0xec, Lines::Four, 6, Lines::Four),
        ] {
            let mut buf = [0; 3];
            wire.transact(&mut [
                Phase::Write(Lines::One, &[opcode]),
                Phase::Write(address_lines, &[0x05, 0x12, 0x34, 0x56]),
                Phase::Clocks(dummies),
                Phase::Read(data_lines, &mut buf),
            ])
            .unwrap();
            assert_eq!(buf, [9, 8, 7], "{opcode:#x}");
        }
        send(wire, &[0xb7]).unwrap();
        assert_eq!(ask(wire, &[0x03, 0x05, 0x12, 0x34, 0x56], 3), [9, 8, 7]);
        send(wire, &[0xe9]).unwrap();
        send(wire, &[0x06]).unwrap();
        send(wire, &[0xc5, 0x05]).unwrap();
        assert_eq!(ask(wire, &[0xc8], 1), [0x05]);
        assert_eq!(ask(wire, &[0x03, 0x12, 0x34, 0x56], 3), [9, 8, 7]);
        send(wire, &[0x06]).unwrap();
        send(wire, &[0x12, 0x05, 0x12, 0x34, 0x59, 6]).unwrap();
        wait(wire);
        send(wire, &[0x06]).unwrap();
        wire.transact(&mut [
            Phase::Write(Lines::One, &[0x34, 0x05, 0x12, 0x34, 0x5a]),
            Phase::Write(Lines::Four, &[5]),
        ])
        .unwrap();
        wait(wire);
        assert_eq!(ask(wire, &[0x13, 0x05, 0x12, 0x34, 0x56], 5), [9, 8, 7, 6, 5]);
        send(wire, &[0x06]).unwrap();
        send(wire, &[0x21, 0x05, 0x12, 0x30, 0x00]).unwrap();
        wait(wire);
        assert_eq!(ask(wire, &[0x13, 0x05, 0x12, 0x34, 0x56], 3), [0xff; 3]);
        assert_eq!(chip.borrow().violations(), []);
        ask(wire, &[0x13, 0xff, 0, 0, 0], 1);
        let address = 0xff00_0000;
        let outside = Violation::OutsideChip { operation: Operation::Read, address, capacity_bytes: 128 << 20 };
        assert_eq!(chip.borrow().violations(), [outside]);
    });
}

/// A quad read; without an opcode where `opcode` is none.
fn quad_read(wire: &mut Wire<'_>, opcode: Option<u8>, mode: u8) -> ([u8; 2], u64) {
    let mut buf = [0; 2];
    let opcode: Vec<u8> = opcode.into_iter().collect();
    let clocks = 8 * opcode.len() as u64 + 6 + 2 + 4 + 4;
    wire.transact(&mut [
        Phase::Write(Lines::One, &opcode),
        Phase::Write(Lines::Four, &[0, 0, 0, mode]),
        Phase::Clocks(4),
        Phase::Read(Lines::Four, &mut buf),
    ])
    .unwrap();
    (buf, clocks)
}

#[test]
fn reads_can_go_on_without_opcodes() {
    for (kind, on, off) in [(ContinuousRead::Bits54, 0xa0, 0xff), (ContinuousRead::Complement, 0xa5, 0xaa)] {
        let mut profile = profile();
        profile.continuous_read = kind;
        profile.quad_enabled = true;
        with_wire(profile, |wire, chip, ledger| {
            chip.borrow_mut().load(0, &[0x12, 0x34]).unwrap();
            assert_eq!(quad_read(wire, Some(0xeb), on).0, [0x12, 0x34]);
            let before_ns = ledger.now_ns();
            let (buf, clocks) = quad_read(wire, None, off);
            assert_eq!((buf, ledger.now_ns() - before_ns), ([0x12, 0x34], clocks * CLOCK_NS));
            assert_eq!(ask(wire, &[0x9f], 1), [0xef], "back to opcodes");
            // Ones on one line bring it back too.
            quad_read(wire, Some(0xeb), on);
            send(wire, &[0xff]).unwrap();
            assert_eq!(ask(wire, &[0x9f], 1), [0xef]);
            assert_eq!(chip.borrow().violations(), []);
        });
    }
}

#[test]
fn delays_and_selection_take_time() {
    let chip = RefCell::new(Chip::new(profile(), 7).unwrap());
    let ledger = Ledger::new();
    let mut wire = Wire::new(&chip, &ledger, 3_000_000).unwrap().with_select_ns(500);
    wire.transaction(&mut [Spi::Write(&[0x05]), Spi::DelayNs(1_000), Spi::Read(&mut [0])]).unwrap();
    assert_eq!(ledger.now_ns(), 5_334 + 1_000 + 500, "16 clocks at 3 MHz, rounded up");
    Delay::new(&ledger).delay_us(2);
    assert_eq!(ledger.spent().account_ns(Account::Sleep), 2_000);
}

fn phase() -> impl Strategy<Value = (u8, Vec<u8>, u8)> {
    // Opcodes that exist come first, mostly on one line.
    let opcode = proptest::sample::select(vec![
        0x03_u8, 0x0b, 0xbb, 0xeb, 0x02, 0x32, 0x20, 0xd8, 0x06, 0x05, 0x01, 0x5a, 0xab, 0x75,
    ]);
    let bytes = (opcode, proptest::collection::vec(any::<u8>(), 0..9)).prop_map(|(opcode, mut bytes)| {
        bytes.insert(0, opcode);
        bytes
    });
    (0..8_u8, prop_oneof![bytes, proptest::collection::vec(any::<u8>(), 0..9)], 0..40_u8)
}

proptest! {
    #[test]
    fn no_stream_is_too_odd(transactions in proptest::collection::vec(proptest::collection::vec(phase(), 1..5), 1..40),
                            quad in any::<bool>()) {
        let mut profile = large();
        profile.quad_enabled = quad;
        profile.continuous_read = ContinuousRead::Complement;
        with_wire(profile, |wire, chip, ledger| {
            for mut transaction in transactions {
                let before_ns = ledger.now_ns();
                let reported = chip.borrow().violation_count();
                let mut phases: Vec<Phase<'_>> = transaction
                    .iter_mut()
                    .map(|(kind, bytes, clocks)| match kind {
                        0..=2 => Phase::Write(Lines::One, bytes),
                        3 => Phase::Write(Lines::Four, bytes),
                        4 => Phase::Clocks(u32::from(*clocks)),
                        5 => Phase::Read(Lines::One, bytes),
                        6 => Phase::Read(Lines::Four, bytes),
                        _ => Phase::ExchangeInPlace(bytes),
                    })
                    .collect();
                let result = wire.transact(&mut phases);
                // What is said is kept, and all that happened took clocks.
                prop_assert_eq!(result.is_err(), chip.borrow().violation_count() > reported);
                prop_assert!(ledger.now_ns() > before_ns || result.is_ok());
            }
            prop_assert_eq!(ledger.now_ns(), ledger.spent().account_ns(Account::Bus));
            Ok(())
        })?;
    }
}
