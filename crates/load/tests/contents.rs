//! What buffers hold, seen by those that look at it: compressors, and deduplication.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::HashSet;
use std::io::Write as _;

use flashmark_fio::options::{BufferOptions, VerifyKind, VerifyOptions};
use flashmark_fio::value::pattern::Pattern;
use flashmark_load::contents::Contents;
use proptest::prelude::*;

const BLOCK_BYTES: usize = 16 << 10;

fn contents(options: &BufferOptions, seed: u64) -> Contents {
    Contents::new(options, &VerifyOptions::default(), seed)
}

/// What is written from one buffer in so many writes, in sequence.
fn written(options: &BufferOptions, seed: u64, block_bytes: usize, writes: usize) -> Vec<Vec<u8>> {
    let mut contents = contents(options, seed);
    let mut buffer = vec![0xee; block_bytes];
    contents.prime(&mut buffer);
    let blocks = (0..writes).map(|number| {
        contents.refresh(&mut buffer, (number * block_bytes) as u64, false);
        buffer.clone()
    });
    blocks.collect()
}

fn pattern(bytes: &[u8]) -> Option<Pattern> {
    Some(Pattern { bytes: bytes.to_vec(), offsets: Vec::new() })
}

/// What is left of the data by each compressor, in percent.
fn left(data: &[u8]) -> [(&'static str, f64); 3] {
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    deflate.write_all(data).unwrap();
    let sizes = [
        ("deflate", deflate.finish().unwrap().len()),
        ("zstd", zstd::bulk::compress(data, 3).unwrap().len()),
        ("lz4", lz4_flex::block::compress(data).len()),
    ];
    sizes.map(|(name, bytes)| (name, bytes as f64 * 100.0 / data.len() as f64))
}

#[test]
fn compressors_take_the_percentage_away() {
    for percent in [10, 25, 50, 75, 90] {
        for chunk in [512, 4096, 3000, 0] {
            for filler in [None, pattern(b"0123456789")] {
                let options = BufferOptions {
                    buffer_compress_percentage: Some(percent),
                    buffer_compress_chunk: chunk,
                    buffer_pattern: filler,
                    ..BufferOptions::default()
                };
                let data = written(&options, 1, BLOCK_BYTES, 64).concat();
                for (compressor, left) in left(&data) {
                    // Small chunks cost each compressor a few bytes to say where they end.
                    let expected = 100.0 - f64::from(percent);
                    let more = if chunk == 512 { 5.0 } else { 1.5 };
                    assert!(
                        (expected - 0.5..expected + more).contains(&left),
                        "{percent} %, chunks of {chunk}, {compressor}: {left:.1} %"
                    );
                }
            }
        }
    }
}

#[test]
fn random_data_is_not_compressed() {
    for refill_buffers in [false, true] {
        let options = BufferOptions { refill_buffers, ..BufferOptions::default() };
        let data = written(&options, 1, 1 << 20, 1).concat();
        for (compressor, left) in left(&data) {
            assert!(left > 99.5, "{compressor}: {left:.1} %");
        }
    }
}

#[test]
fn the_share_of_repeated_blocks_is_exact() {
    for percent in [1, 10, 33, 50, 99] {
        for compress in [None, Some(40)] {
            let options = BufferOptions {
                dedupe_percentage: percent,
                buffer_compress_percentage: compress,
                ..BufferOptions::default()
            };
            let blocks = written(&options, 1, 4096, 500);
            let different: HashSet<&Vec<u8>> = blocks.iter().collect();
            assert_eq!(different.len(), 500 - 5 * usize::from(percent), "{percent} %");
            // Nothing smaller is repeated.
            let sectors: HashSet<&[u8]> = different.iter().flat_map(|block| block.chunks(512)).collect();
            assert_eq!(sectors.len(), different.len() * 8, "{percent} %");
        }
    }
}

#[test]
fn with_everything_repeated_all_blocks_are_alike() {
    let options = BufferOptions { dedupe_percentage: 100, ..BufferOptions::default() };
    let blocks = written(&options, 1, 4096, 100);
    assert!(blocks.iter().all(|block| *block == blocks[0]));
    let shorter = written(&options, 1, 1000, 1);
    assert_eq!(shorter[0], blocks[0][..1000]);
}

#[test]
fn no_two_sectors_are_alike_when_scrambled_or_refilled() {
    for refill_buffers in [false, true] {
        let options = BufferOptions { refill_buffers, ..BufferOptions::default() };
        let mut blocks = written(&options, 1, BLOCK_BYTES, 300);
        blocks.extend(written(&options, 2, BLOCK_BYTES, 300));
        let sectors: HashSet<&[u8]> = blocks.iter().flat_map(|block| block.chunks(512)).collect();
        assert_eq!(sectors.len(), 600 * BLOCK_BYTES / 512);
    }
}

#[test]
fn scrambling_changes_sixteen_bytes_of_a_sector() {
    let mut contents = contents(&BufferOptions::default(), 1);
    assert!(!contents.is_costly());
    let mut buffer = vec![0; BLOCK_BYTES];
    contents.prime(&mut buffer);
    let mut places = HashSet::new();
    for number in 0..100 {
        let before = buffer.clone();
        contents.refresh(&mut buffer, number * BLOCK_BYTES as u64, false);
        for (old, new) in before.chunks(512).zip(buffer.chunks(512)) {
            let changed: Vec<usize> = (0..512).filter(|at| old[*at] != new[*at]).collect();
            assert!(!changed.is_empty());
            let line = changed[0] / 64;
            assert!(changed.iter().all(|at| at / 64 == line && at % 64 < 16), "{changed:?}");
            places.insert(line);
        }
    }
    assert_eq!(places.len(), 8);
}

#[test]
fn known_data_is_laid_once_and_again_after_reads() {
    let zeros = BufferOptions { zero_buffers: true, ..BufferOptions::default() };
    let all_compressed = BufferOptions { buffer_compress_percentage: Some(100), ..BufferOptions::default() };
    let abc = BufferOptions { buffer_pattern: pattern(b"abc"), refill_buffers: true, ..BufferOptions::default() };
    let both = BufferOptions { zero_buffers: true, ..abc.clone() };
    for (options, expected) in [(zeros, &[0; 7]), (all_compressed, &[0; 7]), (abc, b"abcabca"), (both, b"abcabca")] {
        let mut contents = contents(&options, 1);
        assert!(!contents.is_costly());
        let mut buffer = [0xee; 7];
        contents.prime(&mut buffer);
        assert_eq!(&buffer, expected);
        buffer[3] = 1;
        contents.refresh(&mut buffer, 0, false);
        assert_eq!(buffer[3], 1, "laid without need");
        contents.refresh(&mut buffer, 0, true);
        assert_eq!(&buffer, expected);
    }
}

#[test]
fn without_scrambling_writes_are_alike() {
    for (options, alike) in [
        (BufferOptions { scramble_buffers: false, ..BufferOptions::default() }, true),
        (BufferOptions { buffer_compress_percentage: Some(0), ..BufferOptions::default() }, true),
        (BufferOptions::default(), false),
    ] {
        let blocks = written(&options, 1, 4096, 3);
        assert_eq!(blocks[0] == blocks[1] && blocks[1] == blocks[2], alike);
    }
}

#[test]
fn verified_blocks_are_left_to_the_verifier() {
    let options = BufferOptions { refill_buffers: true, ..BufferOptions::default() };
    for (kind, costly) in [(VerifyKind::Crc32c, false), (VerifyKind::Null, true), (VerifyKind::None, true)] {
        let verify = VerifyOptions { verify: kind, ..VerifyOptions::default() };
        assert_eq!(Contents::new(&options, &verify, 1).is_costly(), costly, "{kind}");
    }
}

proptest! {
    #[test]
    fn any_options_and_sizes_are_filled(
        percent in prop::option::of(0_u8..=100), chunk in 0_u32..5000, dedupe in 0_u8..=100, zero: bool, refill: bool,
        scramble: bool, pattern in prop::option::of(prop::collection::vec(any::<u8>(), 1..600)), seed: u64, offset: u64,
        bytes in 0_usize..5000,
    ) {
        let options = BufferOptions {
            buffer_compress_percentage: percent,
            buffer_compress_chunk: chunk,
            dedupe_percentage: dedupe,
            zero_buffers: zero,
            refill_buffers: refill,
            scramble_buffers: scramble,
            buffer_pattern: pattern.map(|bytes| Pattern { bytes, offsets: Vec::new() }),
            ..BufferOptions::default()
        };
        let (mut one, mut other) = (contents(&options, seed), contents(&options, seed));
        let (mut buffer, mut again) = (vec![1; bytes], vec![2; bytes]);
        one.prime(&mut buffer);
        other.prime(&mut again);
        for overwritten in [false, true] {
            one.refresh(&mut buffer, offset, overwritten);
            other.refresh(&mut again, offset, overwritten);
        }
        // The same seed writes the same, and every byte is written.
        prop_assert_eq!(buffer, again);
    }
}
