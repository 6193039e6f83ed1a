//! How far a run came that verifies later (`verify_state_save`, `verify_state_load`).
//!
//! The file is that of fio 3.33 (`verify-state.h`, version 3), little endian: version, length and CRC-32C (not inverted) of
//! what follows; then the count of completions, the queue depth, the count of files, the number of writes, the number of the
//! job, the state of its generator, its name, and room for the completions, depth by files.

use thiserror::Error;

use super::checksum::crc32c_open;

const VERSION: u64 = 3;
const FRONT_BYTES: usize = 24;
const NAME_BYTES: usize = 64;
const FIXED_BYTES: usize = 8 + 4 + 4 + 8 + 8 + 56 + NAME_BYTES;
const COMPLETION_BYTES: usize = 16;
/// What is never exceeded by a real file: 65536 writes in flight to 1024 files.
const MOST_COMPLETIONS: u64 = 1 << 26;

/// A write that was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The number of the file in its job, from 0.
    pub file: u64,
    /// Where, in bytes from the start of the file.
    pub offset: u64,
}

/// How far a job's copy came with its writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyState {
    /// The name of the job. The file has room for 63 bytes of it.
    pub job: String,
    /// The number of the copy among all jobs, from 0.
    pub index: u64,
    /// How many writes are in flight at most.
    pub depth: u32,
    /// How many files there are.
    pub files: u32,
    /// How many writes were issued. All but the last `depth` of them must be complete, else fewer are given:
    /// see [`VerifyState::provable_writes`].
    pub writes: u64,
    /// The generator of offsets, as five words of fio's wide one, or our seed and zeros.
    pub random: [u64; 6],
    /// The last completed writes, at most `depth` for each file, the latest one first.
    pub completions: Vec<Completion>,
}

/// Why a state cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StateError {
    /// More completions than there is room for.
    #[error(
        "{completions} completions are more than the queue depth {depth} times {files} files; keep the last ones only"
    )]
    TooMany {
        /// How many.
        completions: usize,
        /// The queue depth.
        depth: u32,
        /// The files.
        files: u32,
    },
    /// The name has a zero byte, which ends it in the file.
    #[error("the job's name has a zero byte, which a state file cannot hold; name the job otherwise")]
    Name,
    /// The file is too short for what it says.
    #[error("a verify state has {expected} bytes, but the file has {got}; it was cut off, write it anew")]
    Length {
        /// How long it should be.
        expected: u64,
        /// How long it is.
        got: usize,
    },
    /// The file is of another version of fio, or is none.
    #[error(
        "version {got} of a verify state, only {VERSION} (fio 3.33 to 3.38) is known; save it with flashmark or that fio"
    )]
    Version {
        /// The version.
        got: u64,
    },
    /// The checksum is wrong.
    #[error("the verify state is damaged (crc32c {got:#010x}, expected {expected:#010x}); write it anew")]
    Checksum {
        /// What the file says.
        expected: u64,
        /// What it is.
        got: u32,
    },
    /// Counts that do not go together.
    #[error(
        "the verify state says {completions} completions with queue depth {depth} and {files} files; write it anew"
    )]
    Counts {
        /// How many completions.
        completions: u64,
        /// The queue depth.
        depth: u32,
        /// The files.
        files: u32,
    },
}

/// `PREFIX-JOB-INDEX-verify.state`, where `PREFIX` is `local`, in `aux-path` if there is one. `index` is the job's, from 0.
#[must_use]
pub fn state_file_name(job: &str, index: u64) -> String {
    format!("local-{}-{index}-verify.state", job.replace('/', "."))
}

impl VerifyState {
    /// How many writes a state can vouch for: with `issued` writes, of which that with the number `oldest_in_flight` is the
    /// first that is not complete. A state knows of the last `depth` writes only whether they were completed; where an old
    /// one hangs behind newer ones, the newest must be left out.
    #[must_use]
    pub fn provable_writes(issued: u64, oldest_in_flight: Option<u64>, depth: u32) -> u64 {
        oldest_in_flight.map_or(issued, |oldest| issued.min(oldest.saturating_add(depth.into())))
    }

    /// Whether verification ends before the next write: it was not completed, or never issued. `verified` is how many came
    /// before; `file` and `offset` are where it goes.
    ///
    /// A write that was repeated to the same place within the last ones counts as completed.
    #[must_use]
    pub fn ends_before(&self, verified: u64, file: u64, offset: u64) -> bool {
        if verified >= self.writes {
            return true;
        }
        if self.writes - verified > self.depth.into() {
            return false;
        }
        !self.completions.contains(&Completion { file, offset })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// If there are more completions than `depth` times `files`, or if the name has a zero byte.
    pub fn encode(&self) -> Result<Vec<u8>, StateError> {
        let Self { depth, files, .. } = *self;
        let room = u64::from(depth) * u64::from(files);
        if self.completions.len() as u64 > room {
            return Err(StateError::TooMany { completions: self.completions.len(), depth, files });
        }
        if room > MOST_COMPLETIONS {
            return Err(StateError::Counts { completions: self.completions.len() as u64, depth, files });
        }
        if self.job.contains('\0') {
            return Err(StateError::Name);
        }
        let body_bytes = FIXED_BYTES + room as usize * COMPLETION_BYTES;
        let mut bytes = vec![0; FRONT_BYTES];
        bytes.reserve_exact(body_bytes);
        put(&mut bytes, self.completions.len() as u64);
        bytes.extend_from_slice(&depth.to_le_bytes());
        bytes.extend_from_slice(&files.to_le_bytes());
        put(&mut bytes, self.writes);
        put(&mut bytes, self.index);
        // The words that follow are 64 bits wide.
        put(&mut bytes, 1);
        self.random.iter().for_each(|word| put(&mut bytes, *word));
        let name = &self.job[..self.job.floor_char_boundary(NAME_BYTES - 1)];
        bytes.extend_from_slice(name.as_bytes());
        bytes.resize(FRONT_BYTES + FIXED_BYTES, 0);
        for completion in &self.completions {
            put(&mut bytes, completion.file);
            put(&mut bytes, completion.offset);
        }
        bytes.resize(FRONT_BYTES + body_bytes, 0);
        let crc = crc32c_open(&bytes[FRONT_BYTES..]);
        let front = [VERSION, body_bytes as u64, crc.into()];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(front) {
            *place = word.to_le_bytes();
        }
        Ok(bytes)
    }

    /// What a file says.
    ///
    /// # Errors
    ///
    /// If it is none, of another version, or damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let got = bytes.len();
        let mut front = Words(bytes);
        let short = |expected| StateError::Length { expected, got };
        let short_front = || short((FRONT_BYTES + FIXED_BYTES) as u64);
        let version = front.next().ok_or_else(short_front)?;
        if version != VERSION {
            return Err(StateError::Version { got: version });
        }
        let body_bytes = front.next().ok_or_else(short_front)?;
        let crc = front.next().ok_or_else(short_front)?;
        let body = front.0;
        if body.len() as u64 != body_bytes || body.len() < FIXED_BYTES {
            return Err(short(body_bytes.max(FIXED_BYTES as u64).saturating_add(FRONT_BYTES as u64)));
        }
        let computed = crc32c_open(body);
        if crc != u64::from(computed) {
            return Err(StateError::Checksum { expected: crc, got: computed });
        }
        let mut body = Words(body);
        let mut next = || body.next().ok_or_else(short_front);
        let completions = next()?;
        let depth_and_files = next()?;
        let (depth, files) = (depth_and_files as u32, (depth_and_files >> 32) as u32);
        let (writes, index, wide) = (next()?, next()?, next()?);
        let mut random = [0; 6];
        for word in &mut random {
            *word = next()?;
        }
        if wide == 0 {
            // Three words of 32 bits, two in each of ours.
            random[2..].fill(0);
        }
        let room = u64::from(depth) * u64::from(files);
        let (name, rest) = body.0.split_at_checked(NAME_BYTES).ok_or_else(short_front)?;
        if completions > room || (rest.len() as u64) < room.saturating_mul(COMPLETION_BYTES as u64) {
            return Err(StateError::Counts { completions, depth, files });
        }
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let pairs = rest.as_chunks::<COMPLETION_BYTES>().0.iter().take(completions as usize);
        let completions = pairs.map(|pair| {
            let pair = u128::from_le_bytes(*pair);
            Completion { file: pair as u64, offset: (pair >> 64) as u64 }
        });
        Ok(Self {
            job: String::from_utf8_lossy(name).into_owned(),
            index,
            depth,
            files,
            writes,
            random,
            completions: completions.collect(),
        })
    }
}

fn put(bytes: &mut Vec<u8>, word: u64) {
    bytes.extend_from_slice(&word.to_le_bytes());
}

/// Little-endian words from the start of bytes.
struct Words<'b>(&'b [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }
}
