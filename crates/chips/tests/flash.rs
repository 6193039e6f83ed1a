//! `NorFlash` on a chip, and the wrappers around it.
#![allow(clippy::unwrap_used)]

mod common;

use core::cell::RefCell;

use common::{MS, US, profile};
use embedded_storage::nor_flash::{NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use flashmark_chips::fault::{Extent, PowerCut, PowerCutError};
use flashmark_chips::nor::{Chip, Flash, FlashError, Violation};
use flashmark_chips::trace::{Event, Totals, Trace};
use flashmark_core::clock::Clock;
use flashmark_core::ledger::{Account, Ledger};
use proptest::prelude::*;

fn with_flash<T>(test: impl FnOnce(Flash<'_>, &RefCell<Chip>, &Ledger) -> T) -> T {
    let chip = RefCell::new(Chip::new(profile(), 5).unwrap());
    let ledger = Ledger::new();
    test(Flash::new(&chip, &ledger), &chip, &ledger)
}

#[test]
fn a_chip_is_a_nor_flash() {
    with_flash(|mut flash, chip, ledger| {
        assert_eq!(flash.capacity(), 4 << 20);
        flash.write(0xf0, &[0x55; 600]).unwrap();
        assert_eq!(chip.borrow().counters().programs, 4);
        let programs_ns = 67_500 + 400 * US + 400 * US + (30_000 + 71 * 2_500);
        assert_eq!(ledger.spent().account_ns(Account::Busy), programs_ns);
        let mut buf = [0; 602];
        flash.read(0xef, &mut buf).unwrap();
        assert_eq!((buf[0], buf[1], buf[600], buf[601]), (0xff, 0x55, 0x55, 0xff));

        flash.erase(0x1000, 0x1_9000).unwrap();
        // Sectors up to 32 KiB, a block of 32, one of 64 KiB, a block of 32 KiB, one sector.
        assert_eq!(chip.borrow().counters().erases_by_type, [7 + 1, 1 + 1, 0, 0]);
        flash.erase(0, 0x2_0000).unwrap();
        assert_eq!(chip.borrow().counters().erases_by_type, [8, 2, 2, 0]);
        flash.read(0xef, &mut buf).unwrap();
        assert_eq!(buf, [0xff; 602]);
        assert_eq!(ledger.spent().total_ns(), ledger.spent().account_ns(Account::Busy));
        assert_eq!(ledger.now_ns(), chip.borrow().counters().busy_ns);

        assert_eq!(flash.read((4 << 20) - 1, &mut buf[..2]), Err(FlashError::OutOfBounds));
        assert_eq!(flash.write(4 << 20, &[0]), Err(FlashError::OutOfBounds));
        assert_eq!(flash.erase(0, 0x800), Err(FlashError::NotAligned));
        assert_eq!(flash.erase(0x1000, 0), Err(FlashError::OutOfBounds));
        assert_eq!(chip.borrow().violations(), []);
        flash.write(0, &[0]).unwrap();
        let needs_erase = FlashError::Chip(Violation::NeedsErase { address: 0, bits: 1 });
        assert_eq!(flash.write(0, &[1]), Err(needs_erase));
        assert_eq!(needs_erase.kind(), NorFlashErrorKind::Other);
    });
}

#[test]
fn what_is_not_made_up_of_units_is_refused() {
    let mut profile = profile();
    profile.erase_types.remove(0);
    let chip = RefCell::new(Chip::new(profile, 5).unwrap());
    let ledger = Ledger::new();
    let mut flash = Flash::new(&chip, &ledger);
    assert_eq!(flash.erase(0, 0x1000), Err(FlashError::NotAligned));
    assert_eq!(flash.erase(0, 0x8000), Ok(()));
}

#[test]
fn a_trace_tells_what_was_asked() {
    with_flash(|flash, _, _| {
        let mut trace = Trace::new(flash, 2);
        trace.erase(0, 0x2000).unwrap();
        trace.write(10, &[1, 2, 3]).unwrap();
        trace.read(0, &mut [0; 20]).unwrap();
        let events: Vec<_> = trace.events().collect();
        assert_eq!(events, [Event::Write { offset: 10, bytes: 3 }, Event::Read { offset: 0, bytes: 20 }]);
        let totals = Totals { reads: 1, read_bytes: 20, writes: 1, write_bytes: 3, erases: 1, erase_bytes: 0x2000 };
        assert_eq!(trace.totals(), totals);
        trace.clear();
        assert_eq!((trace.totals(), trace.events().len()), (Totals::default(), 0));
        assert_eq!(trace.capacity(), 4 << 20);
    });
}

#[test]
fn the_power_goes_and_comes_back() {
    with_flash(|flash, _, _| {
        let mut cut = PowerCut::new(flash, 1);
        cut.cut_after(3, Extent::None);
        cut.erase(0, 0x2000).unwrap();
        // Two pages: the first passes, before the second the power goes.
        assert_eq!(cut.write(0xfe, &[1, 2, 3, 4]), Err(PowerCutError::Cut));
        assert!(cut.is_cut());
        assert_eq!(cut.operations(), 4);
        let mut buf = [0; 4];
        assert_eq!(cut.read(0xfe, &mut buf), Err(PowerCutError::Cut));
        assert_eq!(cut.write(0, &[0]), Err(PowerCutError::Cut));
        assert_eq!(cut.erase(0, 0x1000), Err(PowerCutError::Cut));
        cut.restore();
        cut.read(0xfe, &mut buf).unwrap();
        assert_eq!(buf, [1, 2, 0xff, 0xff]);
        cut.cut_after(0, Extent::Whole);
        assert_eq!(cut.write(0x100, &[3, 4]), Err(PowerCutError::Cut));
        cut.restore();
        cut.read(0xfe, &mut buf).unwrap();
        assert_eq!(buf, [1, 2, 3, 4]);
        // Errors of the flash memory are its own, and no operations.
        assert_eq!(cut.erase(1, 0x1000), Err(PowerCutError::Flash(FlashError::NotAligned)));
        assert_eq!(cut.write(4 << 20, &[0]), Err(PowerCutError::Flash(FlashError::OutOfBounds)));
        assert_eq!(cut.operations(), 5);
    });
}

proptest! {
    #[test]
    fn a_program_in_part_is_a_prefix_and_some_bits(old in proptest::collection::vec(any::<u8>(), 1..256), seed in any::<u64>()) {
        with_flash(|flash, chip, _| {
            let new: Vec<u8> = old.iter().enumerate().map(|(at, byte)| byte & (at as u8).wrapping_mul(37)).collect();
            chip.borrow_mut().load(0, &old).unwrap();
            let mut cut = PowerCut::new(flash, seed);
            cut.cut_after(0, Extent::Partial);
            prop_assert_eq!(cut.write(0, &new), Err(PowerCutError::Cut));
            let found = chip.borrow().dump(0..old.len() as u64).unwrap();
            // One byte between the prefix that is written and the rest that is not.
            let done = found.iter().zip(&new).take_while(|(found, new)| found == new).count();
            if done < old.len() {
                prop_assert_eq!(found[done] & !old[done], 0);
                prop_assert_eq!(new[done] & !found[done], 0);
                prop_assert_eq!(&found[done + 1..], &old[done + 1..]);
            }
            prop_assert_eq!(chip.borrow().violation_count(), 0);
            Ok(())
        })?;
    }

    #[test]
    fn an_erase_in_part_only_raises_bits(seed in any::<u64>(), fill in any::<u8>()) {
        with_flash(|flash, chip, _| {
            chip.borrow_mut().load(0, &[fill; 0x3000]).unwrap();
            let mut cut = PowerCut::new(flash, seed);
            cut.cut_after(1, Extent::Partial);
            prop_assert_eq!(cut.erase(0, 0x3000), Err(PowerCutError::Cut));
            let found = chip.borrow().dump(0..0x3000).unwrap();
            prop_assert!(found[..0x1000].iter().all(|byte| *byte == 0xff));
            prop_assert!(found[0x1000..0x2000].iter().all(|byte| fill & !byte == 0));
            prop_assert!(found[0x2000..].iter().all(|byte| *byte == fill));
            cut.restore();
            cut.erase(0x1000, 0x2000).unwrap();
            prop_assert_eq!(chip.borrow().violation_count(), 0);
            Ok(())
        })?;
    }
}

#[test]
fn cuts_leave_all_kinds_of_garbage() {
    let left = |seed| {
        with_flash(|flash, chip, _| {
            chip.borrow_mut().load(0, &[0; 0x1000]).unwrap();
            let mut cut = PowerCut::new(flash, seed);
            cut.cut_after(0, Extent::Partial);
            cut.erase(0, 0x1000).unwrap_err();
            let image = chip.borrow().dump(0..0x1000).unwrap();
            image.iter().map(|byte| byte.count_ones()).sum::<u32>()
        })
    };
    let ones: Vec<u32> = (0..60).map(left).collect();
    assert!(ones.contains(&0) && ones.contains(&0x8000), "untouched and complete: {ones:?}");
    assert!(ones.iter().any(|ones| (0x2000..0x6000).contains(ones)), "in between: {ones:?}");
    assert_eq!(ones, (0..60).map(left).collect::<Vec<_>>(), "the same for a seed");
}

#[test]
fn the_flash_waits_for_what_others_began() {
    with_flash(|mut flash, chip, ledger| {
        chip.borrow_mut().write_enable(0).unwrap();
        let ns = chip.borrow_mut().erase(0, 65536, 0).unwrap();
        flash.read(0, &mut [0; 4]).unwrap();
        assert_eq!(ledger.now_ns(), ns);
        assert!(ns > 100 * MS);
    });
}
