//! What is called, and on which volumes.

use proptest::prelude::*;
use spiffs::{Config, Magic, OpenFlags, SeekFrom};

use crate::{Call, NAMES, Setup};

pub fn calls() -> impl Strategy<Value = Vec<Call>> {
    let names = 0..NAMES;
    let flags = prop_oneof![
        3 => Just(OpenFlags::READ_WRITE.union(OpenFlags::CREATE).bits()),
        2 => Just(OpenFlags::READ_WRITE.union(OpenFlags::CREATE).union(OpenFlags::APPEND).bits()),
        3 => 0_u16..128,
    ];
    let file = 0_usize..8;
    let bytes = prop_oneof![4 => 0_usize..40, 3 => 0_usize..600, 2 => 0_usize..3000, 1 => Just(245_usize), 1 => 3000_usize..9000];
    let seek = prop_oneof![
        3 => (0_u32..6000).prop_map(SeekFrom::Start),
        1 => (-300_i32..300).prop_map(SeekFrom::Current),
        2 => (-3000_i32..2).prop_map(SeekFrom::End),
        1 => Just(SeekFrom::End(0)),
    ];
    let call = prop_oneof![
        2 => names.clone().prop_map(Call::Create),
        14 => (names.clone(), flags.clone()).prop_map(|(name, flags)| Call::Open(name, flags)),
        2 => (names.clone(), flags).prop_map(|(name, flags)| Call::OpenPage(name, flags)),
        12 => (file.clone(), bytes.clone()).prop_map(|(file, bytes)| Call::Read(file, bytes)),
        30 => (file.clone(), bytes).prop_map(|(file, bytes)| Call::Write(file, bytes)),
        8 => (file.clone(), seek).prop_map(|(file, to)| Call::Seek(file, to)),
        4 => (file.clone(), 0_u32..5000).prop_map(|(file, size)| Call::Truncate(file, size)),
        4 => file.clone().prop_map(Call::Flush),
        6 => file.clone().prop_map(Call::Close),
        2 => file.clone().prop_map(Call::Position),
        4 => names.clone().prop_map(Call::Remove),
        1 => file.clone().prop_map(Call::RemoveOpen),
        3 => (names.clone(), names.clone()).prop_map(|(from, to)| Call::Rename(from, to)),
        2 => names.clone().prop_map(Call::SetMeta),
        2 => file.clone().prop_map(Call::SetMetaOpen),
        2 => names.prop_map(Call::Stat),
        2 => file.prop_map(Call::StatOpen),
        2 => Just(Call::List),
        1 => (0_u32..9000).prop_map(Call::Collect),
        1 => (0_u16..20).prop_map(Call::EraseDeleted),
        1 => Just(Call::Check),
        1 => Just(Call::Unmount),
        1 => Just(Call::Abandon),
    ];
    prop::collection::vec(call, 1..90)
}

pub fn setups() -> impl Strategy<Value = Setup> {
    // Sizes of page and block, and how many blocks.
    let geometry = prop_oneof![
        (Just(64_u32), prop_oneof![Just(512_u32), Just(1024), Just(4096)], 6_u32..20),
        (Just(128_u32), prop_oneof![Just(1024_u32), Just(4096)], 5_u32..14),
        (Just(256_u32), Just(4096_u32), 4_u32..12),
        (Just(256_u32), Just(8192_u32), 3_u32..6),
        (Just(512_u32), Just(4096_u32), 4_u32..12),
        (Just(1024_u32), prop_oneof![Just(8192_u32), Just(16384)], 4_u32..8),
    ];
    let parts = prop_oneof![Just(1_u32), Just(1), Just(2)];
    let magic = prop_oneof![Just(Magic::Off), Just(Magic::PageSize), Just(Magic::Length)];
    let run = (prop_oneof![Just(10_u16), Just(1), Just(3)], prop_oneof![Just(64_u16), Just(256), Just(1), Just(37)]);
    let cache = prop_oneof![Just(0_usize), Just(1), Just(2), Just(4), Just(32), 0_usize..33];
    (
        (geometry, parts, prop_oneof![Just(0_u32), Just(0x1_0000), Just(0x3000)]),
        (2_u16..17, prop_oneof![Just(0_u16), Just(4), Just(16)]),
        (magic, any::<bool>(), any::<bool>(), any::<bool>(), run),
        (1_usize..9, cache),
    )
        .prop_map(|((geometry, parts, address), (name, meta), flags, (files, cache_pages))| {
            let (page_bytes, block_bytes, blocks) = geometry;
            let (magic, page_check, write_cache, open_hints, (gc_runs, copy_bytes)) = flags;
            let config = Config {
                address,
                size_bytes: block_bytes * blocks,
                sector_bytes: block_bytes / parts,
                block_bytes,
                page_bytes,
                name_bytes: if page_bytes == 64 { name } else { name * 2 },
                meta_bytes: meta,
                magic,
                page_check,
                write_cache,
                open_hints,
                gc_runs,
                copy_bytes,
            };
            // Not every one has room for its magic.
            let magic = if config.check().is_ok() { magic } else { Magic::Off };
            Setup { config: Config { magic, ..config }, files, cache_pages }
        })
        .prop_filter("a volume", |setup| setup.config.check().is_ok())
}
