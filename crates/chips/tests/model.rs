//! A chip against the simplest thing that could be one: an array of bytes.
#![allow(clippy::unwrap_used)]

mod common;

use common::profile;
use flashmark_chips::nor::{Chip, Overwrite};
use proptest::prelude::*;

const CAPACITY: usize = 1 << 18;

#[derive(Clone, Debug)]
enum Step {
    Program(u32, Vec<u8>),
    Erase(usize, u32),
    EraseAll,
    Read(u32, usize),
    Load(u32, Vec<u8>),
}

fn data(limit: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..limit),
        (1..limit).prop_map(|bytes| vec![0xff; bytes]),
        (1..limit).prop_map(|bytes| vec![0x00; bytes]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    // Few places, so that steps meet.
    let address = prop_oneof![0..CAPACITY as u32, 0..0x2400_u32];
    prop_oneof![
        6 => (address.clone(), data(600)).prop_map(|(address, data)| Step::Program(address, data)),
        3 => (0..3_usize, address.clone()).prop_map(|(kind, address)| Step::Erase(kind, address)),
        1 => Just(Step::EraseAll),
        3 => (address.clone(), 0..9000_usize).prop_map(|(address, bytes)| Step::Read(address, bytes)),
        1 => (address, data(9000)).prop_map(|(address, data)| Step::Load(address, data)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_chip_is_an_array(steps in proptest::collection::vec(step(), 1..60), seed in any::<u64>()) {
        let mut profile = profile();
        profile.capacity_bytes = CAPACITY as u64;
        let mut chip = Chip::new(profile, seed).unwrap();
        chip.set_overwrite(Overwrite::Count);
        let mut array = vec![0xff_u8; CAPACITY];
        let mut wear = vec![0_u32; CAPACITY / 4096];
        let (mut now_ns, mut changed, mut stuck) = (0, 0_u64, 0_u64);
        for step in steps {
            match step {
                Step::Program(address, data) => {
                    let (page, offset) = (address as usize & !255, address as usize & 255);
                    // As the chip's page buffer does it: byte by byte, round and round.
                    let mut buffer = [None; 256];
                    for (index, byte) in data.iter().enumerate() {
                        buffer[(offset + index) % 256] = Some(*byte);
                    }
                    for (at, byte) in buffer.iter().enumerate().filter_map(|(at, byte)| byte.map(|byte| (at, byte))) {
                        let cell = &mut array[page + at];
                        changed += u64::from((*cell & !byte).count_ones());
                        stuck += u64::from((!*cell & byte).count_ones());
                        *cell &= byte;
                    }
                    chip.write_enable(now_ns).unwrap();
                    let wraps = offset + data.len() > 256;
                    let result = chip.program(now_ns, u64::from(address), &data);
                    prop_assert_eq!(result.is_err(), wraps);
                    prop_assert!(chip.busy_until_ns() > now_ns && chip.busy_until_ns() - now_ns <= 3_000_000);
                }
                Step::Erase(kind, address) => {
                    let bytes = [4096, 32768, 65536][kind];
                    let start = address as usize / bytes * bytes;
                    array[start..start + bytes].fill(0xff);
                    wear[start / 4096..(start + bytes) / 4096].iter_mut().for_each(|erases| *erases += 1);
                    chip.write_enable(now_ns).unwrap();
                    chip.erase(now_ns, bytes as u32, u64::from(address)).unwrap();
                }
                Step::EraseAll => {
                    array.fill(0xff);
                    wear.iter_mut().for_each(|erases| *erases += 1);
                    chip.write_enable(now_ns).unwrap();
                    chip.chip_erase(now_ns).unwrap();
                }
                Step::Read(address, bytes) => {
                    let mut buf = vec![0; bytes];
                    let outside = address as usize + bytes > CAPACITY;
                    prop_assert_eq!(chip.read(now_ns, u64::from(address), &mut buf).is_err(), outside);
                    for (index, byte) in buf.iter().enumerate() {
                        prop_assert_eq!(*byte, array[(address as usize + index) % CAPACITY]);
                    }
                }
                Step::Load(address, data) => {
                    let (start, end) = (address as usize, address as usize + data.len());
                    if end <= CAPACITY {
                        array[start..end].copy_from_slice(&data);
                    }
                    prop_assert_eq!(chip.load(u64::from(address), &data).is_ok(), end <= CAPACITY);
                }
            }
            now_ns = now_ns.max(chip.busy_until_ns());
        }
        prop_assert_eq!(chip.dump(0..CAPACITY as u64).unwrap(), &array[..]);
        prop_assert_eq!(chip.wear().iter().collect::<Vec<_>>(), wear);
        prop_assert_eq!((chip.counters().changed_bits, chip.counters().stuck_bits), (changed, stuck));
        let sectors = array.chunks(4096).filter(|sector| sector.iter().any(|byte| *byte != 0xff)).count();
        prop_assert_eq!(chip.allocated_sectors() as usize, sectors);
    }
}
