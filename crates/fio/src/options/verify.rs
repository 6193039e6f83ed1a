//! How data is checked (fio HOWTO, "Verification").

use super::table::options;
use crate::value::choice::{choice_but, words};
use crate::value::pattern::{Pattern, with_offsets};
use crate::value::quantity::{count, count32};
use crate::value::{boolean, some, switch};

words! {
    /// What a block carries to be checked with.
    VerifyKind:
    /// Nothing; blocks are not checked.
    None = "0",
    /// MD5.
    Md5 = "md5",
    /// A CRC of 64 bits.
    Crc64 = "crc64",
    /// A CRC of 32 bits.
    Crc32 = "crc32",
    /// Castagnoli's CRC.
    Crc32c = "crc32c" | "crc32c-intel",
    /// A CRC of 16 bits.
    Crc16 = "crc16",
    /// A CRC of 7 bits.
    Crc7 = "crc7",
    /// SHA-1.
    Sha1 = "sha1",
    /// SHA-256.
    Sha256 = "sha256",
    /// SHA-512.
    Sha512 = "sha512",
    /// xxHash.
    Xxhash = "xxhash",
    /// A header only: offset, time, number of the write.
    Meta = "meta",
    /// The pattern of `verify_pattern`, no header.
    Pattern = "pattern",
    /// That pattern, with a header.
    PatternHeader = "pattern_hdr",
    /// Nothing is written or checked, to measure the rest of verification.
    Null = "null",
}

/// How long a header is at least; `struct verify_header` of fio's `verify.h`, up to 3.40 (48 bytes since 3.41).
pub(crate) const HEADER_BYTES: u32 = 40;

const SHA3: &str = "use sha256";

options! {
    /// How data is checked.
    VerifyOptions in verify;
    fields {
        /// What a block carries.
        verify: VerifyKind = VerifyKind::None, "verify" [] => choice_but(VerifyKind::ALL, &[
            ("sha3-224", SHA3), ("sha3-256", SHA3), ("sha3-384", SHA3), ("sha3-512", SHA3),
        ]);
        /// Whether what was written is read back.
        do_verify: bool = true, "do_verify" [] => boolean;
        /// In what pieces a block is checked; 0 is the whole block.
        verify_interval: u32 = 0, "verify_interval" [] => count32(2 * HEADER_BYTES, u32::MAX);
        /// Where in a piece the header is.
        verify_offset: u32 = 0, "verify_offset" [] => count32(HEADER_BYTES, u32::MAX);
        /// What blocks consist of.
        verify_pattern: Option<Pattern> = None, "verify_pattern" [] => some(with_offsets);
        /// Whether the first wrong block ends the job.
        verify_fatal: bool = false, "verify_fatal" [] => boolean;
        /// Whether wrong blocks are kept in files.
        verify_dump: bool = false, "verify_dump" [] => boolean;
        /// After how many written blocks they are read back; 0 is at the end.
        verify_backlog: u64 = 0, "verify_backlog" [] => count(0, u64::MAX);
        /// How many are read back then; 0 is as many as were written.
        verify_backlog_batch: u32 = 0, "verify_backlog_batch" [] => count32(0, u32::MAX);
        /// Whether it is read from a file how far an earlier run came.
        verify_state_load: bool = false, "verify_state_load" [] => boolean;
        /// Whether it is written to a file how far this one came.
        verify_state_save: bool = true, "verify_state_save" [] => boolean;
        /// Whether the number of the write is checked.
        verify_write_sequence: bool = true, "verify_write_sequence" [] => boolean;
        /// Whether the header's seed is checked.
        verify_header_seed: bool = true, "verify_header_seed" [] => boolean;
        /// Whether nothing is written, only checked.
        verify_only: bool = false, "verify_only" [] => switch, bare;
    }
    triples {}
    also {}
}
