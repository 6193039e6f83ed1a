//! The language of the scripts: one call a line, `#` begins a comment, and the first line has the configuration.
//! `data/README.txt` lists the calls.

use spiffs::{Config, ConfigError, Magic, OpenFlags};

use super::nor::Extent;

/// File slots that a script can use.
pub const SLOTS: usize = 1024;
/// The most bytes that a call reads or writes.
const MOST_BYTES: u32 = 0x1000_0000;

/// What a script is run with.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub config: Config,
    pub descriptors: usize,
    pub cache_pages: usize,
}

impl Settings {
    /// The flash ends where the volume ends.
    pub fn flash_bytes(&self) -> usize {
        (self.config.address + self.config.size_bytes) as usize
    }
}

/// From where `seek` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    Set,
    Current,
    End,
}

#[derive(Clone, Debug)]
pub enum Call {
    Mount,
    Unmount,
    Format,
    Create {
        name: Vec<u8>,
    },
    Open {
        slot: usize,
        name: Vec<u8>,
        flags: OpenFlags,
    },
    /// By what a listing tells of the file.
    OpenListed {
        slot: usize,
        name: Vec<u8>,
        flags: OpenFlags,
    },
    Read {
        slot: usize,
        bytes: usize,
    },
    Write {
        slot: usize,
        data: Vec<u8>,
    },
    Seek {
        slot: usize,
        offset: i32,
        whence: Whence,
    },
    Tell {
        slot: usize,
    },
    Eof {
        slot: usize,
    },
    Truncate {
        slot: usize,
        size: u32,
    },
    Flush {
        slot: usize,
    },
    Close {
        slot: usize,
    },
    Remove {
        name: Vec<u8>,
    },
    RemoveOpen {
        slot: usize,
    },
    Rename {
        from: Vec<u8>,
        to: Vec<u8>,
    },
    Stat {
        name: Vec<u8>,
    },
    StatOpen {
        slot: usize,
    },
    SetMeta {
        name: Vec<u8>,
        meta: Vec<u8>,
    },
    SetMetaOpen {
        slot: usize,
        meta: Vec<u8>,
    },
    List,
    Info,
    Check,
    Collect {
        bytes: u32,
    },
    EraseDeleted {
        most_free: u16,
    },
    Poke {
        address: u32,
        bytes: Vec<u8>,
    },
    Cut {
        after: u32,
        extent: Extent,
    },
    Restore,
    Image,
}

#[derive(Clone, Debug)]
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    /// Its words, without a comment.
    pub text: String,
    pub call: Call,
}

#[derive(Clone, Debug)]
pub struct Script {
    pub settings: Settings,
    pub lines: Vec<Line>,
}

impl Script {
    /// # Errors
    /// Says in which line what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut settings: Option<Settings> = None;
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<_> = line.split_ascii_whitespace().take_while(|word| !word.starts_with('#')).collect();
            let Some((first, arguments)) = words.split_first() else { continue };
            let in_line = |error| format!("line {number}: {error}");
            let Some(settings) = &settings else {
                if *first != "config" {
                    return Err(in_line("the first line must be config".into()));
                }
                settings = Some(configuration(arguments).map_err(in_line)?);
                continue;
            };
            let mut words = Words { left: arguments.iter() };
            let call = call(first, &mut words, settings).map_err(in_line)?;
            if let Some(word) = words.left.next() {
                return Err(in_line(format!("{word}: one word too many")));
            }
            lines.push(Line {
                number,
                text: std::iter::once(first).chain(arguments).copied().collect::<Vec<_>>().join(" "),
                call,
            });
        }
        Ok(Self { settings: settings.ok_or("no config line")?, lines })
    }

    pub fn has_cut(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.call, Call::Cut { .. }))
    }
}

/// The words after a call's name.
struct Words<'w> {
    left: std::slice::Iter<'w, &'w str>,
}

impl<'w> Words<'w> {
    fn word(&mut self) -> Result<&'w str, String> {
        self.left.next().copied().ok_or_else(|| "a word is missing".into())
    }

    fn number(&mut self) -> Result<u32, String> {
        number(self.word()?)
    }

    fn slot(&mut self) -> Result<usize, String> {
        let slot = self.number()? as usize;
        if slot < SLOTS { Ok(slot) } else { Err(format!("{slot}: a slot is below {SLOTS}")) }
    }

    /// How many bytes are read or written.
    fn bytes(&mut self) -> Result<usize, String> {
        let bytes = self.number()?;
        if bytes <= MOST_BYTES { Ok(bytes as usize) } else { Err(format!("{bytes}: too many bytes")) }
    }

    /// A name, in which `%XX` is a byte; `""` is the empty one.
    fn name(&mut self) -> Result<Vec<u8>, String> {
        let word = self.word()?;
        if word == "\"\"" {
            return Ok(Vec::new());
        }
        let mut name = Vec::new();
        let mut rest = word.as_bytes();
        while let [byte, tail @ ..] = rest {
            rest = tail;
            name.push(*byte);
            if *byte == b'%' {
                let digits = rest.get(..2).and_then(|digits| str::from_utf8(digits).ok());
                let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|byte| *byte != 0);
                *name.last_mut().unwrap() = escaped.ok_or_else(|| format!("{word}: not a byte after %"))?;
                rest = &rest[2..];
            }
        }
        Ok(name)
    }

    fn flags(&mut self) -> Result<OpenFlags, String> {
        self.word()?.split('+').try_fold(OpenFlags::empty(), |flags, word| {
            Ok(flags
                | match word {
                    "append" => OpenFlags::APPEND,
                    "trunc" => OpenFlags::TRUNCATE,
                    "creat" => OpenFlags::CREATE,
                    "rdonly" => OpenFlags::READ,
                    "wronly" => OpenFlags::WRITE,
                    "rdwr" => OpenFlags::READ_WRITE,
                    "direct" => OpenFlags::DIRECT,
                    "excl" => OpenFlags::EXCLUSIVE,
                    "0" => OpenFlags::empty(),
                    _ => return Err(format!("{word}: not a flag")),
                })
        })
    }
}

fn number(word: &str) -> Result<u32, String> {
    let parsed = match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => word.parse(),
    };
    parsed.map_err(|_| format!("{word}: not a number"))
}

/// The bytes that a seed stands for: the highest bytes of the states of xorshift32 (13, 17, 5).
pub fn generate(seed: u32, bytes: usize) -> Vec<u8> {
    let mut state = seed | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 24) as u8
    })
    .take(bytes)
    .collect()
}

fn configuration(words: &[&str]) -> Result<Settings, String> {
    let mut config = Config { magic: Magic::Off, ..Config::esp_idf(65536) };
    let (mut magic, mut magic_length, mut cache, mut cache_write) = (1, 1, 1, 1);
    let (mut cache_pages, mut descriptors) = (None, 4);
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("{word}: not key=value"))?;
        let value = number(value)?;
        let small = || u16::try_from(value).map_err(|_| format!("{word}: too large"));
        match key {
            "size" => config.size_bytes = value,
            "addr" => config.address = value,
            "sector" => config.sector_bytes = value,
            "block" => config.block_bytes = value,
            "page" => config.page_bytes = value,
            "name" => config.name_bytes = small()?,
            "meta" => config.meta_bytes = small()?,
            "magic" => magic = value,
            "magic_length" => magic_length = value,
            "cache" => cache = value,
            "cache_wr" => cache_write = value,
            "cache_pages" => cache_pages = Some(value),
            "fds" => descriptors = value,
            "gc_runs" => config.gc_runs = small()?,
            "fdcache" => config.open_hints = value != 0,
            "page_check" => config.page_check = value != 0,
            _ => return Err(format!("{key}: no such setting")),
        }
    }
    config.write_cache = cache != 0 && cache_write != 0;
    config.magic = match (magic, magic_length) {
        (0, _) => Magic::Off,
        (_, 0) => Magic::PageSize,
        _ => Magic::Length,
    };
    match config.check() {
        // A volume without room for its magic is refused by the call `mount`.
        Ok(()) | Err(ConfigError::Magic) => {}
        Err(error) => return Err(error.to_string()),
    }
    // The C code takes 32 pages of memory for the cache at most, with what it has to know about each of the cache's
    // pages (20 bytes on 32 bit machines, or 12 without a write cache) and about all (20 bytes).
    let known = if config.write_cache { 20 } else { 12 };
    let most = (32 * config.page_bytes - 20) / (config.page_bytes + known);
    let cache_pages = if cache == 0 { 0 } else { cache_pages.unwrap_or(descriptors).min(most) };
    Ok(Settings { config, descriptors: descriptors as usize, cache_pages: cache_pages as usize })
}

fn call(name: &str, words: &mut Words<'_>, settings: &Settings) -> Result<Call, String> {
    let meta = |seed| generate(seed, settings.config.meta_bytes.into());
    Ok(match name {
        "mount" => Call::Mount,
        "unmount" => Call::Unmount,
        "format" => Call::Format,
        "creat" => Call::Create { name: words.name()? },
        "open" => Call::Open { slot: words.slot()?, name: words.name()?, flags: words.flags()? },
        "opendirent" | "openpage" => {
            Call::OpenListed { slot: words.slot()?, name: words.name()?, flags: words.flags()? }
        }
        "read" => Call::Read { slot: words.slot()?, bytes: words.bytes()? },
        "write" => {
            let (slot, seed) = (words.slot()?, words.number()?);
            Call::Write { slot, data: generate(seed, words.bytes()?) }
        }
        "seek" => {
            let slot = words.slot()?;
            let word = words.word()?;
            let offset = match word.strip_prefix('-') {
                Some(digits) => i32::try_from(-i64::from(number(digits)?)),
                None => i32::try_from(number(word)?),
            };
            let offset = offset.map_err(|_| format!("{word}: not in 32 bits"))?;
            let whence = match words.word()? {
                "set" => Whence::Set,
                "cur" => Whence::Current,
                "end" => Whence::End,
                word => return Err(format!("{word}: not set, cur or end")),
            };
            Call::Seek { slot, offset, whence }
        }
        "tell" => Call::Tell { slot: words.slot()? },
        "eof" => Call::Eof { slot: words.slot()? },
        "truncate" => Call::Truncate { slot: words.slot()?, size: words.number()? },
        "flush" => Call::Flush { slot: words.slot()? },
        "close" => Call::Close { slot: words.slot()? },
        "remove" => Call::Remove { name: words.name()? },
        "fremove" => Call::RemoveOpen { slot: words.slot()? },
        "rename" => Call::Rename { from: words.name()?, to: words.name()? },
        "stat" => Call::Stat { name: words.name()? },
        "fstat" => Call::StatOpen { slot: words.slot()? },
        "setmeta" => Call::SetMeta { name: words.name()?, meta: meta(words.number()?) },
        "fsetmeta" => Call::SetMetaOpen { slot: words.slot()?, meta: meta(words.number()?) },
        "dir" => Call::List,
        "info" => Call::Info,
        "check" => Call::Check,
        "gc" => Call::Collect { bytes: words.number()? },
        // The C code's parameter has 16 bits.
        "gcquick" => Call::EraseDeleted { most_free: words.number()? as u16 },
        "poke" => {
            let address = words.number()?;
            let bytes = hex(words.word()?)?;
            if address as usize + bytes.len() > settings.flash_bytes() {
                return Err(format!("{address}: outside the flash"));
            }
            Call::Poke { address, bytes }
        }
        "cut" => {
            let after = words.number()?;
            let extent = match words.word()? {
                "none" => Extent::None,
                "half" => Extent::Half,
                "whole" => Extent::Whole,
                word => return Err(format!("{word}: not none, half or whole")),
            };
            Call::Cut { after, extent }
        }
        "restore" => Call::Restore,
        "image" => Call::Image,
        _ => return Err(format!("{name}: no such call")),
    })
}

fn hex(word: &str) -> Result<Vec<u8>, String> {
    let digits = word.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect::<Option<_>>().ok_or_else(|| format!("{word}: not bytes in hex"))
}
