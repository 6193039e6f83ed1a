//! Images that are damaged in all ways: no call panics, leaves the volume, or goes on for ever. The same as the fuzz target
//! does, from seeds.
#![allow(clippy::unwrap_used, clippy::panic)]

mod exercise;
mod ram;

use exercise::{Setup, exercise, filled, setup};
use ram::Random;

/// The places of an image.
struct Image<'i> {
    bytes: &'i mut [u8],
    setup: Setup,
}

impl Image<'_> {
    fn pages(&self) -> u32 {
        self.setup.config.size_bytes / self.setup.config.page_bytes
    }

    fn page(&mut self, page: u32) -> &mut [u8] {
        let bytes = self.setup.config.page_bytes as usize;
        &mut self.bytes[page as usize * bytes..][..bytes]
    }

    /// A lookup page mostly, else any page.
    fn interesting_page(&self, random: &mut Random) -> u32 {
        let pages_per_block = self.setup.config.block_bytes / self.setup.config.page_bytes;
        let page = random.below(self.pages());
        match random.below(3) {
            0 => page - page % pages_per_block,
            _ => page,
        }
    }

    fn put(&mut self, page: u32, at: u32, value: u16) {
        self.page(page)[at as usize..][..2].copy_from_slice(&value.to_le_bytes());
    }

    /// A number as is used for pages and objects.
    fn number(&self, random: &mut Random) -> u16 {
        let near = self.pages() + random.below(3);
        let index = if random.below(2) == 0 { 0x8000 } else { 0 };
        match random.below(6) {
            0 => 0,
            1 => 0xffff,
            2 => near as u16,
            3 => random.below(self.pages()) as u16,
            4 => index | (1 + random.below(8)) as u16,
            _ => random.below(1 << 16) as u16,
        }
    }

    fn damage(&mut self, random: &mut Random) {
        let page_bytes = self.setup.config.page_bytes;
        let page = self.interesting_page(random);
        match random.below(9) {
            0 => {
                for _ in 0..1 + random.below(20) {
                    let at = random.below(self.bytes.len() as u32) as usize;
                    self.bytes[at] ^= 1 << random.below(8);
                }
            }
            1 => self.page(page).copy_from_slice(&random.bytes(page_bytes as usize)),
            2 => {
                let fill = [0, 0xff, 0x80][random.below(3) as usize];
                self.page(page).fill(fill);
            }
            3 => {
                // Two pages change places.
                let other = self.interesting_page(random);
                let one = self.page(page).to_vec();
                let two = self.page(other).to_vec();
                self.page(page).copy_from_slice(&two);
                self.page(other).copy_from_slice(&one);
            }
            4 => {
                // A page comes twice.
                let other = self.interesting_page(random);
                let one = self.page(page).to_vec();
                self.page(other).copy_from_slice(&one);
            }
            5 => {
                // Entries of lookups or of tables.
                for _ in 0..1 + random.below(4) {
                    let number = self.number(random);
                    self.put(page, random.below(page_bytes / 2) * 2, number);
                }
            }
            6 => {
                // Entries of tables in index headers.
                for _ in 0..1 + random.below(4) {
                    let number = self.number(random);
                    self.put(page, 33 + random.below((page_bytes - 33) / 2) * 2, number);
                }
            }
            7 => {
                // A header's fields: object, span, flags, size.
                let number = self.number(random);
                let at = [0, 2, 4, 8, 10][random.below(5) as usize];
                self.put(page, at, number);
            }
            _ => {
                let flags = [0xf8, 0xfc, 0xb8, 0x78, 0x7c, 0xff, random.byte()][random.below(7) as usize];
                self.page(page)[4] = flags;
            }
        }
    }
}

/// A case from a seed.
fn case(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let setup = setup(random.byte());
    let mut bytes = filled(setup, &mut random);
    let mut image = Image { bytes: &mut bytes, setup };
    for _ in 0..1 + random.below(6) {
        image.damage(&mut random);
    }
    let count = 4 + random.below(16) as usize;
    // The files are listed first.
    let steps = [vec![0], random.bytes(count)].concat();
    exercise(setup, &bytes, &steps);
}

fn cases(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let result = std::panic::catch_unwind(|| case(seed));
        assert!(result.is_ok(), "seed {seed}");
    }
}

// In four parts, which run side by side.

#[test]
fn damaged_images_1() {
    cases(0..400);
}

#[test]
fn damaged_images_2() {
    cases(1_000_000..1_000_400);
}

#[test]
fn damaged_images_3() {
    cases(2_000_000..2_000_400);
}

#[test]
fn damaged_images_4() {
    cases(3_000_000..3_000_400);
}

/// Nothing of a volume at all.
#[test]
fn noise() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let setup = setup(random.byte());
        let mut bytes = random.bytes(setup.config.size_bytes as usize);
        // Most of it free or deleted, so that calls get somewhere.
        let fill = [0xff, 0, 0xff, 0xfc][random.below(4) as usize];
        for byte in &mut bytes {
            if random.below(8) > 0 {
                *byte = fill;
            }
        }
        exercise(setup, &bytes, &[vec![0], random.bytes(12)].concat());
    }
}
