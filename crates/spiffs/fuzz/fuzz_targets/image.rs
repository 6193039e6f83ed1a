//! Mounts an image that the fuzzer makes up, and calls what it says. The first byte chooses the configuration, the next 16
//! the calls; the rest is the image, or with the first call's highest bit a change to a valid one.
#![no_main]

#[path = "../../tests/ram/mod.rs"]
mod ram;

#[path = "../../tests/exercise/mod.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((header, image)) = input.split_at_checked(17) else { return };
    let setup = exercise::setup(header[0]);
    if header[1] < 128 {
        exercise::exercise(setup, image, &header[1..]);
        return;
    }
    // Changes: where, in two bytes, and what to.
    let mut valid = exercise::filled(setup, &mut ram::Random(u64::from(header[2])));
    for change in image.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % valid.len();
        valid[at] = change[2];
    }
    exercise::exercise(setup, &valid, &header[1..]);
});
