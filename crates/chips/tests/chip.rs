//! The chip against its data sheet: times, rules, and what happens to those who break them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{MS, US, large, profile};
use flashmark_chips::nor::{Chip, Effect, Operation, Overwrite, ProfileError, Violation};

/// A chip and a clock that waits out every operation.
struct Bench {
    chip: Chip,
    now_ns: u64,
}

impl Bench {
    fn new() -> Self {
        Self { chip: Chip::new(profile(), 1).unwrap(), now_ns: 0 }
    }

    fn run<T>(&mut self, operation: impl FnOnce(&mut Chip, u64) -> T) -> T {
        self.now_ns = self.now_ns.max(self.chip.busy_until_ns());
        operation(&mut self.chip, self.now_ns)
    }

    fn program(&mut self, address: u64, data: &[u8]) -> Result<u64, Violation> {
        self.run(|chip, now| chip.write_enable(now)).unwrap();
        self.run(|chip, now| chip.program(now, address, data))
    }

    fn erase(&mut self, bytes: u32, address: u64) -> Result<u64, Violation> {
        self.run(|chip, now| chip.write_enable(now)).unwrap();
        self.run(|chip, now| chip.erase(now, bytes, address))
    }

    fn read(&mut self, address: u64, bytes: usize) -> Vec<u8> {
        let mut buf = vec![0; bytes];
        self.run(|chip, now| chip.read(now, address, &mut buf)).unwrap();
        buf
    }
}

#[test]
fn programs_take_what_the_data_sheet_says() {
    let mut bench = Bench::new();
    // Half of the bits change: D(n) = min(page, first + (n - 1) next).
    assert_eq!(bench.program(0, &[0x0f]), Ok(30 * US));
    assert_eq!(bench.program(256, &[0x55; 64]), Ok(30 * US + 63 * 2_500));
    assert_eq!(bench.program(512, &[0xaa; 256]), Ok(400 * US));
    // The same again: only the share that is spent whatever the data.
    assert_eq!(bench.program(256, &[0x55; 64]), Ok((30 * US + 63 * 2_500) / 2));
    // All bits change: the variable share twice.
    assert_eq!(bench.program(1024, &[0x00; 64]), Ok(187_500 * 3 / 2));
    assert_eq!(bench.chip.violations(), []);
    let counters = bench.chip.counters();
    assert_eq!((counters.programs, counters.program_bytes), (5, 1 + 64 + 256 + 64 + 64));
    assert_eq!(counters.changed_bits, 4 + 256 + 1024 + 512);
}

#[test]
fn no_program_is_over_the_maximum() {
    let mut profile = profile();
    profile.program.page_max_ns = 450 * US;
    profile.program.unchanged_permille = 0;
    let mut chip = Chip::new(profile, 1).unwrap();
    chip.write_enable(0).unwrap();
    assert_eq!(chip.program(0, 0, &[0; 256]), Ok(450 * US));
    assert_eq!(chip.busy_until_ns(), 450 * US);
}

#[test]
fn erases_spread_around_the_typical_time() {
    let mut bench = Bench::new();
    let times: Vec<u64> = (0..4000).map(|_| bench.erase(4096, 0).unwrap()).collect();
    let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    assert!(*least >= 45 * MS * 9 / 10 && *most <= 45 * MS * 11 / 10, "{least} {most}");
    assert!(*least < 42 * MS && *most > 48 * MS, "{least} {most}");
    let mean = times.iter().sum::<u64>() / 4000;
    assert!(mean.abs_diff(45 * MS) < MS / 5, "{mean}");
    // A triangle: half of all within 29.3 % of the spread.
    let near = times.iter().filter(|ns| ns.abs_diff(45 * MS) < 45 * MS / 10 * 293 / 1000).count();
    assert!((1850..2150).contains(&near), "{near}");

    let mut again = Bench::new();
    assert_eq!(times[..50], (0..50).map(|_| again.erase(4096, 0).unwrap()).collect::<Vec<_>>());
    let mut other = Bench { chip: Chip::new(profile(), 2).unwrap(), now_ns: 0 };
    assert_ne!(times[..50], (0..50).map(|_| other.erase(4096, 0).unwrap()).collect::<Vec<_>>());
}

#[test]
fn erases_know_maximum_blank_and_wear() {
    let mut profile = profile();
    profile.erase_types[0].max_ns = 45 * MS;
    profile.blank_erase_ns = Some(3 * MS);
    let mut bench = Bench { chip: Chip::new(profile.clone(), 1).unwrap(), now_ns: 0 };
    assert_eq!(bench.erase(4096, 0), Ok(3 * MS));
    for _ in 0..100 {
        bench.program(0, &[0x7f]).unwrap();
        let ns = bench.erase(4096, 0).unwrap();
        assert!(ns <= 45 * MS && ns > 40 * MS);
    }
    assert_eq!((bench.chip.counters().erases, bench.chip.counters().blank_erases), (101, 1));

    profile.erase_types[0].max_ns = 400 * MS;
    profile.blank_erase_ns = None;
    profile.erase_spread_permille = 0;
    profile.erase_wear_permille = 1000;
    profile.endurance_cycles = 10;
    let mut bench = Bench { chip: Chip::new(profile, 1).unwrap(), now_ns: 0 };
    let times: Vec<u64> = (0..12).map(|_| bench.erase(4096, 0).unwrap() / 100_000).collect();
    assert_eq!(times, [450, 495, 540, 585, 630, 675, 720, 765, 810, 855, 900, 900]);
    assert_eq!(bench.chip.wear().beyond(10), 1);
}

#[test]
fn erases_of_all_sizes_reach_what_they_should() {
    let mut bench = Bench::new();
    for (bytes, address, unit) in [
        (4096, 0x1_3fff, 0x1_3000..0x1_4000),
        (32768, 0x1_9000, 0x1_8000..0x2_0000),
        (65536, 0x1_0000, 0x1_0000..0x2_0000),
    ] {
        bench.chip.load(0, &vec![0; 0x3_0000]).unwrap();
        bench.erase(bytes, address).unwrap();
        let image = bench.chip.dump(0..0x3_0000).unwrap();
        for (at, byte) in image.iter().enumerate() {
            assert_eq!(*byte, if unit.contains(&(at as u64)) { 0xff } else { 0 }, "{bytes} at {at:#x}");
        }
    }
    let wear = bench.chip.wear();
    assert_eq!((wear.get(0x12), wear.get(0x13), wear.get(0x18), wear.get(0x20)), (1, 2, 2, 0));
    assert_eq!((wear.total(), wear.max(), wear.sectors()), (1 + 8 + 16, 2, 1024));
    assert_eq!(bench.chip.counters().erases_by_type, [1, 1, 1, 0]);

    bench.run(|chip, now| chip.write_enable(now)).unwrap();
    let ns = bench.run(|chip, now| chip.chip_erase(now)).unwrap();
    assert!((9_000 * MS..=11_000 * MS).contains(&ns));
    assert_eq!(bench.chip.dump(0..4 << 20).unwrap(), vec![0xff; 4 << 20]);
    assert_eq!((bench.chip.wear().get(0x13), bench.chip.wear().get(1023), bench.chip.allocated_sectors()), (3, 1, 0));
    assert_eq!(bench.chip.counters().erase_bytes, 4096 + 32768 + 65536 + (4 << 20));
}

#[test]
fn status_tells_busy_and_enabled() {
    let mut chip = Chip::new(profile(), 1).unwrap();
    assert_eq!(chip.status(0), 0);
    chip.write_enable(0).unwrap();
    assert_eq!(chip.status(0), 0b10);
    chip.write_disable(0).unwrap();
    assert_eq!(chip.status(0), 0);
    chip.write_enable(0).unwrap();
    let ns = chip.program(0, 0, &[0; 16]).unwrap();
    assert_eq!((chip.status(ns - 1), chip.status(ns)), (0b11, 0));
}

#[test]
fn what_is_against_the_rules_is_reported_and_has_no_effect() {
    let mut chip = Chip::new(profile(), 1).unwrap();
    let disabled = |operation| Violation::WriteDisabled { operation };
    assert_eq!(chip.program(0, 0, &[0]), Err(disabled(Operation::Program)));
    assert_eq!(chip.erase(0, 4096, 0), Err(disabled(Operation::Erase)));
    assert_eq!(chip.chip_erase(0), Err(disabled(Operation::ChipErase)));
    assert_eq!(chip.write_status(0, 0, &[0x40]), Err(disabled(Operation::WriteStatus)));
    chip.write_enable(0).unwrap();
    assert_eq!(chip.program(0, 0, &[]), Err(Violation::NoData));
    assert_eq!(chip.erase(0, 8192, 0), Err(Violation::NoSuchErase { bytes: 8192 }));
    assert_eq!(chip.status(0), 0b10, "still enabled");
    assert_eq!(chip.suspend(0), Err(Violation::NothingToSuspend));
    assert_eq!(chip.resume(0), Err(Violation::NothingToResume));

    let ns = chip.program(0, 0, &[0x0f]).unwrap();
    let busy = |operation, remaining_ns| Violation::Busy { operation, remaining_ns };
    let mut buf = [0; 2];
    assert_eq!(chip.read(10, 0, &mut buf), Err(busy(Operation::Read, ns - 10)));
    assert_eq!(buf, [0xff; 2]);
    assert_eq!(chip.write_enable(ns - 1), Err(busy(Operation::WriteEnable, 1)));
    assert_eq!(chip.program(1, 0, &[0]), Err(busy(Operation::Program, ns - 1)));
    assert_eq!(chip.power_down(1), Err(busy(Operation::PowerDown, ns - 1)));
    assert_eq!(chip.dump(0..2), Ok(vec![0x0f, 0xff]));

    chip.power_down(ns).unwrap();
    let down = |operation| Violation::PowerDown { operation };
    assert_eq!(chip.read(ns, 0, &mut buf), Err(down(Operation::Read)));
    assert_eq!(chip.write_enable(ns + 5 * US), Err(down(Operation::WriteEnable)));
    assert_eq!(chip.release(ns + US), Err(down(Operation::Release)), "not there yet");
    assert_eq!(chip.release(ns + 3 * US), Ok(3 * US));
    assert_eq!(chip.read(ns + 5 * US, 0, &mut buf), Err(down(Operation::Read)), "still waking");
    assert_eq!(chip.read(ns + 6 * US, 0, &mut buf), Ok(()));
    assert_eq!(buf, [0x0f, 0xff]);

    assert_eq!(chip.violation_count(), 16);
    assert_eq!(chip.violations().len(), 16);
    assert!(chip.violations().iter().all(|violation| violation.effect() == Effect::Ignored));
    assert_eq!(chip.counters().programs, 1);
    for _ in 0..100 {
        chip.resume(ns + 6 * US).unwrap_err();
    }
    assert_eq!((chip.violations().len(), chip.violation_count()), (64, 116));
    chip.clear_violations();
    assert_eq!((chip.violations().len(), chip.violation_count()), (0, 0));
}

#[test]
fn programs_wrap_in_their_page() {
    let mut bench = Bench::new();
    let data: Vec<u8> = (0..16).collect();
    assert_eq!(bench.program(0x1f8, &data), Err(Violation::PageWrap { address: 0x1f8, bytes: 16 }));
    assert!(bench.chip.busy_until_ns() > bench.now_ns);
    assert_eq!(bench.read(0x1f8, 9), [&data[..8], &[0xff]].concat());
    assert_eq!(bench.read(0x100, 9), [&data[8..], &[0xff]].concat());
    // Of 300 bytes from offset 10 the last 256 stay: bytes 44..300, at (10 + i) % 256.
    let data: Vec<u8> = (0..300_u32).map(|byte| (byte % 251) as u8).collect();
    bench.program(0x30a, &data).unwrap_err();
    let page = bench.read(0x300, 256);
    for (index, byte) in data.iter().enumerate().skip(44) {
        assert_eq!(page[(10 + index) % 256], *byte, "byte {index}");
    }
    assert_eq!(bench.chip.violations().len(), 2);
    // Up to the very end is no wrap.
    bench.program(0x4f8, &[0; 8]).unwrap();
}

#[test]
fn zeros_stay_without_an_erase() {
    let mut bench = Bench::new();
    bench.program(0, &[0xf0, 0x55]).unwrap();
    bench.program(0, &[0xf0, 0x55]).unwrap();
    bench.program(0, &[0x30, 0x11]).unwrap();
    assert_eq!(bench.chip.violations(), []);
    assert_eq!(bench.program(0, &[0x31, 0xff]), Err(Violation::NeedsErase { address: 0, bits: 1 + 6 }));
    assert_eq!(bench.read(0, 2), [0x30, 0x11]);
    assert_eq!(bench.chip.violations()[0].effect(), Effect::CarriedOut);
    bench.chip.set_overwrite(Overwrite::Count);
    bench.program(0, &[0xff; 2]).unwrap();
    assert_eq!(bench.chip.counters().stuck_bits, 7 + 6 + 6);
}

#[test]
fn addresses_outside_wrap() {
    let mut bench = Bench::new();
    let capacity_bytes = 4 << 20;
    let outside = |operation, address| Violation::OutsideChip { operation, address, capacity_bytes };
    assert_eq!(bench.program(capacity_bytes + 5, &[0x12]), Err(outside(Operation::Program, capacity_bytes + 5)));
    assert_eq!(bench.read(5, 1), [0x12]);
    let mut buf = [0; 16];
    assert_eq!(
        bench.run(|chip, now| chip.read(now, capacity_bytes - 8, &mut buf)),
        Err(outside(Operation::Read, capacity_bytes))
    );
    assert_eq!((buf[12], buf[13]), (0xff, 0x12));
    bench.erase(4096, capacity_bytes).unwrap_err();
    assert_eq!(bench.read(5, 1), [0xff]);
    assert!(bench.chip.load(capacity_bytes - 1, &[0; 2]).is_err());
    assert!(bench.chip.dump(0..capacity_bytes + 1).is_err());
}

#[test]
fn an_erase_is_suspended_for_reads_and_programs_elsewhere() {
    let mut chip = Chip::new(profile(), 1).unwrap();
    chip.write_enable(0).unwrap();
    let erase_ns = chip.erase(0, 65536, 0x1_0000).unwrap();
    let mut buf = [0; 1];
    assert_eq!(chip.suspend(10 * MS), Ok(20 * US));
    assert_eq!(chip.status(10 * MS) & 1, 1);
    let now_ns = 10 * MS + 20 * US;
    assert_eq!((chip.status(now_ns), chip.status_register(1, now_ns)), (0, 0x80));
    let suspended = |operation, address| Err(Violation::Suspended { operation, address });
    assert_eq!(chip.read(now_ns, 0x1_ffff, &mut buf), suspended(Operation::Read, 0x1_ffff));
    assert_eq!(chip.read(now_ns, 0x2_0000, &mut buf), Ok(()));
    chip.write_enable(now_ns).unwrap();
    assert_eq!(chip.program(now_ns, 0x1_0100, &[0]).map(drop), suspended(Operation::Program, 0x1_0100));
    assert_eq!(chip.erase(now_ns, 4096, 0).map(drop), suspended(Operation::Erase, 0));
    assert_eq!(chip.chip_erase(now_ns).map(drop), suspended(Operation::ChipErase, 0));
    let program_ns = chip.program(now_ns, 0, &[0x0f]).unwrap();
    assert!(chip.resume(now_ns).is_err(), "the program is under way");
    assert_eq!(chip.suspend(now_ns), Err(Violation::NothingToSuspend), "one is suspended already");
    let now_ns = now_ns + program_ns;
    assert_eq!(chip.resume(now_ns), Ok(erase_ns - 10 * MS));
    assert_eq!((chip.status(now_ns) & 1, chip.status_register(1, now_ns)), (1, 0));
    assert_eq!(chip.busy_until_ns(), now_ns + erase_ns - 10 * MS);
    // It can be suspended again.
    chip.suspend(now_ns + MS).unwrap();
    assert_eq!(chip.resume(now_ns + 2 * MS), Ok(erase_ns - 11 * MS));
}

#[test]
fn a_reset_forgets_what_is_volatile() {
    let mut chip = Chip::new(profile(), 1).unwrap();
    chip.volatile_write_enable(0).unwrap();
    assert_eq!(chip.write_status(0, 1, &[0x02]), Ok(0));
    assert_eq!(chip.status_register(1, 0), 0x02);
    chip.write_enable(0).unwrap();
    assert_eq!(chip.write_status(0, 2, &[0x60]), Ok(10 * MS));
    assert_eq!(chip.suspend(1), Err(Violation::NothingToSuspend), "status writes cannot be suspended");
    let now_ns = 10 * MS;
    chip.write_enable(now_ns).unwrap();
    assert_eq!(chip.reset(now_ns), Ok(30 * US));
    assert_eq!((0..4).map(|index| chip.status_register(index, now_ns)).collect::<Vec<_>>(), [0, 0, 0x60, 0]);
    assert_eq!(chip.write_enable(now_ns + 1), Err(Violation::PowerDown { operation: Operation::WriteEnable }));
    let now_ns = now_ns + 30 * US;
    chip.write_enable(now_ns).unwrap();
    chip.erase(now_ns, 4096, 0).unwrap();
    assert_eq!(chip.reset(now_ns + 1), Err(Violation::Interrupted));
    assert_eq!(chip.status(now_ns + 1), 0);
}

#[test]
fn a_large_chip_costs_what_is_written() {
    let mut chip = Chip::new(large(), 1).unwrap();
    let mut now_ns = 0;
    for index in 0..1000_u64 {
        let address = index * 131_072;
        chip.write_enable(now_ns).unwrap();
        chip.program(now_ns, address, &index.to_le_bytes()).unwrap();
        now_ns = chip.busy_until_ns();
    }
    assert_eq!(chip.allocated_sectors(), 1000);
    let mut buf = [0; 8];
    chip.read(now_ns, 999 * 131_072, &mut buf).unwrap();
    assert_eq!(u64::from_le_bytes(buf), 999);
    for index in 0..1000 {
        chip.write_enable(now_ns).unwrap();
        chip.erase(now_ns, 65536, index * 131_072).unwrap();
        now_ns = chip.busy_until_ns();
    }
    assert_eq!(chip.allocated_sectors(), 0);
}

#[test]
fn impossible_profiles_are_refused() {
    let refused = |change: fn(&mut flashmark_chips::nor::Profile)| {
        let mut profile = profile();
        change(&mut profile);
        Chip::new(profile, 0).unwrap_err()
    };
    let key = |error: ProfileError| error.key();
    assert_eq!(key(refused(|profile| profile.capacity_bytes = 3 << 20)), "chip.capacity");
    assert_eq!(key(refused(|profile| profile.capacity_bytes = 0)), "chip.capacity");
    assert_eq!(key(refused(|profile| profile.capacity_bytes = 32 << 20)), "chip.capacity");
    assert_eq!(key(refused(|profile| profile.page_bytes = 300)), "chip.page");
    assert_eq!(key(refused(|profile| profile.erase_types[2].bytes = 8 << 20)), "erase.size");
    assert_eq!(key(refused(|profile| profile.erase_types.clear())), "erase");
    assert_eq!(key(refused(|profile| profile.erase_types.swap(0, 1))), "erase");
    assert_eq!(key(refused(|profile| profile.erase_types[0].max_ns = 1)), "erase");
    assert_eq!(key(refused(|profile| profile.chip_erase_typical_ns = 0)), "chip_erase");
    assert_eq!(key(refused(|profile| profile.program.page_typical_ns = u64::MAX)), "program.page");
    assert_eq!(key(refused(|profile| profile.program.unchanged_permille = 1001)), "program.unchanged");
    assert_eq!(key(refused(|profile| profile.reads.clear())), "read");
    assert_eq!(key(refused(|profile| profile.reads[5].dummy_clocks = 3)), "read");
    assert_eq!(key(refused(|profile| profile.status_registers = 1)), "chip.status_registers");
    assert_eq!(refused(|profile| profile.reads[1].opcode = 0x02), ProfileError::OpcodeTwice { opcode: 0x02 });
}
