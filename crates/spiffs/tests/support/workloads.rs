//! What file systems are used for, as scripts: the workloads of the table in `docs/spiffs.md`. The C code's totals for
//! them are in `data/NAME.totals`.

use std::fmt::Write as _;

/// What is done to a volume. Its script is made of phases, each of which begins with a line `# phase NAME`.
pub struct Workload {
    /// Also of its recording.
    pub name: &'static str,
    pub about: &'static str,
    pub size_kib: u32,
    /// Files that can be open at a time, and pages of cache.
    files: u32,
    calls: fn(&mut Calls),
}

pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "esp_idf",
        about: "the sizes of ESP-IDF's benchmark, ten times each: 65536, 78643, 54613 and 255 bytes in one call",
        size_kib: 2048,
        files: 5,
        calls: esp_idf,
    },
    Workload {
        name: "fill_30",
        about: "files of 0 to 8000 bytes until 30 % are used, read, every third removed, others instead",
        size_kib: 256,
        files: 4,
        calls: |calls| fill(calls, 30),
    },
    Workload {
        name: "fill_60",
        about: "the same until 60 % are used",
        size_kib: 256,
        files: 4,
        calls: |calls| fill(calls, 60),
    },
    Workload {
        name: "fill_90",
        about: "the same until 90 % are used",
        size_kib: 256,
        files: 4,
        calls: |calls| fill(calls, 90),
    },
    Workload {
        name: "fill_98",
        about: "the same until 98 % are used",
        size_kib: 256,
        files: 4,
        calls: |calls| fill(calls, 98),
    },
    Workload {
        name: "small_files_1000",
        about: "1000 files of up to 500 bytes, listed, some read, every third removed, 100 more",
        size_kib: 2048,
        files: 4,
        calls: small_files,
    },
    Workload {
        name: "append_log",
        about: "two logs, 400 lines of 100 bytes each: opened for each line, and flushed after each line",
        size_kib: 256,
        files: 4,
        calls: append_log,
    },
    Workload {
        name: "single_bytes",
        about: "2000 writes of a byte each, which wait in the cache, and 2000 reads of a byte",
        size_kib: 256,
        files: 4,
        calls: single_bytes,
    },
    Workload {
        name: "rotated_log",
        about: "a log of 600 lines of 100 bytes, opened for each line, replaced after 150 lines",
        size_kib: 64,
        files: 4,
        calls: rotated_log,
    },
    Workload {
        name: "rewrite",
        about: "beside 24 kB that stay, three files of up to 4000 bytes emptied and written again, 250 times",
        size_kib: 64,
        files: 4,
        calls: rewrite,
    },
    Workload {
        name: "delete_rewrite",
        about: "of ten files that use 80 %, one after the other removed and written again, 120 times",
        size_kib: 64,
        files: 4,
        calls: delete_rewrite,
    },
];

/// The consistency check of a file of 480 KiB. Not recorded: this crate's check looks at more than the C code's.
pub const CHECK: Workload = Workload {
    name: "check",
    about: "a file of 480 KiB, and a check of the volume",
    size_kib: 2048,
    files: 5,
    calls: check,
};

impl Workload {
    pub fn named(name: &str) -> Option<&'static Self> {
        WORKLOADS.iter().chain([&CHECK]).find(|workload| workload.name == name)
    }

    /// The calls, from an erased flash on, in the language of the scripts.
    pub fn script(&self) -> String {
        let mut calls = Calls { text: String::new(), seed: 1, random: 0x9e37_79b9 };
        let (size, files) = (self.size_kib * 1024, self.files);
        calls.line(format_args!("config size={size} fds={files}"));
        calls.phase("format");
        // As ESP-IDF does it: a volume that does not mount is formatted.
        for call in ["mount", "unmount", "format", "mount"] {
            calls.line(format_args!("{call}"));
        }
        (self.calls)(&mut calls);
        calls.text
    }
}

/// The phase of each line of a script, from line 1 on; nothing for lines before the first phase.
pub fn phases(script: &str) -> Vec<&str> {
    let mut phase = "";
    let of_line = |line| {
        phase = str::strip_prefix(line, PHASE).unwrap_or(phase);
        phase
    };
    script.lines().map(of_line).collect()
}

const PHASE: &str = "# phase ";

/// A script in the making.
struct Calls {
    text: String,
    /// Of the data of the next write.
    seed: u32,
    random: u32,
}

impl Calls {
    fn phase(&mut self, name: &str) {
        self.line(format_args!("{PHASE}{name}"));
    }

    fn line(&mut self, call: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{call}");
    }

    /// A number below another one.
    fn below(&mut self, limit: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        (self.random >> 8) % limit
    }

    fn write(&mut self, bytes: u32) {
        self.seed += 2;
        let seed = self.seed;
        self.line(format_args!("write 0 {seed} {bytes}"));
    }

    /// A file that is written anew, so many bytes a call.
    fn put(&mut self, name: &str, bytes: u32, a_call: u32) {
        self.line(format_args!("open 0 {name} rdwr+creat+trunc"));
        let mut left = bytes;
        while left > 0 {
            let now = left.min(a_call);
            self.write(now);
            left -= now;
        }
        self.line(format_args!("close 0"));
    }

    /// A file of so many bytes that is read, so many bytes a call.
    fn get(&mut self, name: &str, bytes: u32, a_call: u32) {
        self.line(format_args!("open 0 {name} rdonly"));
        for _ in 0..bytes.div_ceil(a_call) {
            self.line(format_args!("read 0 {a_call}"));
        }
        self.line(format_args!("close 0"));
    }
}

/// Sizes and order of perf_benchmark_example_main.c, each in one call.
fn esp_idf(calls: &mut Calls) {
    for bytes in [65536, 78643, 54613, 255] {
        calls.phase(&format!("write_{bytes}"));
        for _ in 0..10 {
            calls.put("test", bytes, bytes);
        }
        calls.phase(&format!("read_{bytes}"));
        for _ in 0..10 {
            calls.get("test", bytes, bytes);
        }
    }
}

/// Data bytes of a page of 256.
const PAGE_DATA_BYTES: u32 = 251;
/// Pages of a volume of 256 KiB that files can use: 15 of each block, and two blocks are kept.
const USABLE_PAGES: u32 = 15 * 62;

/// Pages of a file's data and of its index.
fn pages_of(bytes: u32) -> u32 {
    bytes.div_ceil(PAGE_DATA_BYTES) + 1
}

fn fill(calls: &mut Calls, percent: u32) {
    let mut left = USABLE_PAGES * percent / 100;
    let mut sizes = Vec::new();
    calls.phase("fill");
    while left > 0 {
        let wanted = match calls.below(4) {
            0 => calls.below(51),
            1 => 50 + calls.below(950),
            2 => 1000 + calls.below(7000),
            _ => PAGE_DATA_BYTES * (1 + calls.below(20)),
        };
        let bytes = wanted.min((left - 1) * PAGE_DATA_BYTES);
        // In one call: what is written in pieces leaves so many deleted pages that no more than 91 % can be filled.
        calls.put(&format!("f{}", sizes.len()), bytes, 8000);
        sizes.push(bytes);
        left -= pages_of(bytes);
    }
    calls.line(format_args!("info"));
    calls.phase("read");
    calls.line(format_args!("dir"));
    for (file, bytes) in sizes.iter().enumerate() {
        calls.get(&format!("f{file}"), *bytes, 1000);
    }
    calls.phase("remove");
    let mut freed = 0;
    for (file, bytes) in sizes.iter().enumerate().step_by(3) {
        calls.line(format_args!("remove f{file}"));
        freed += pages_of(*bytes);
    }
    calls.line(format_args!("info"));
    calls.phase("fill_again");
    let mut file = 0;
    while freed > 1 {
        let bytes = calls.below(3000).min((freed - 1) * PAGE_DATA_BYTES);
        calls.put(&format!("g{file}"), bytes, 500);
        freed -= pages_of(bytes);
        file += 1;
    }
    calls.line(format_args!("info"));
}

fn small_files(calls: &mut Calls) {
    calls.phase("create");
    for file in 0..1000 {
        let bytes = 1 + calls.below(500);
        calls.put(&format!("f{file}"), bytes, bytes);
    }
    calls.phase("list");
    calls.line(format_args!("dir"));
    calls.phase("read");
    for file in (0..1000).step_by(37) {
        calls.get(&format!("f{file}"), 500, 500);
    }
    calls.phase("remove");
    for file in (0..1000).step_by(3) {
        calls.line(format_args!("remove f{file}"));
    }
    calls.phase("create_more");
    for file in 0..100 {
        calls.put(&format!("g{file}"), 200, 200);
    }
    calls.phase("mount");
    for call in ["unmount", "mount", "dir"] {
        calls.line(format_args!("{call}"));
    }
}

fn append_log(calls: &mut Calls) {
    calls.phase("open_append_close");
    for _ in 0..400 {
        append_line(calls);
    }
    calls.phase("append_flush");
    calls.line(format_args!("open 0 flushed wronly+creat+append"));
    for _ in 0..400 {
        calls.write(100);
        calls.line(format_args!("flush 0"));
    }
    calls.line(format_args!("close 0"));
    calls.phase("read");
    calls.get("log", 40_000, 1000);
}

fn append_line(calls: &mut Calls) {
    calls.line(format_args!("open 0 log wronly+creat+append"));
    calls.write(100);
    calls.line(format_args!("close 0"));
}

fn single_bytes(calls: &mut Calls) {
    calls.phase("write");
    calls.line(format_args!("open 0 bytes rdwr+creat"));
    for _ in 0..2000 {
        calls.write(1);
    }
    calls.phase("read");
    calls.line(format_args!("seek 0 0 set"));
    for _ in 0..2000 {
        calls.line(format_args!("read 0 1"));
    }
    calls.line(format_args!("close 0"));
}

fn check(calls: &mut Calls) {
    calls.phase("check");
    calls.put("large", 480 * 1024, 480 * 1024);
    calls.line(format_args!("check"));
}

fn rotated_log(calls: &mut Calls) {
    for part in 0..4 {
        calls.phase(&format!("append_{part}"));
        for _ in 0..150 {
            append_line(calls);
        }
        if part > 0 {
            calls.line(format_args!("remove old"));
        }
        calls.line(format_args!("rename log old"));
    }
}

fn rewrite(calls: &mut Calls) {
    calls.phase("fill");
    for file in 0..6 {
        calls.put(&format!("stays{file}"), 4000, 4000);
    }
    calls.phase("rewrite");
    for _ in 0..250 {
        let (file, bytes) = (calls.below(3), 100 + calls.below(3900));
        calls.put(&format!("t{file}"), bytes, 1000);
    }
}

fn delete_rewrite(calls: &mut Calls) {
    calls.phase("fill");
    for file in 0..10 {
        calls.put(&format!("s{file}"), 3500, 3500);
    }
    calls.phase("delete_rewrite");
    for turn in 0..120 {
        let name = format!("s{}", turn % 10);
        calls.line(format_args!("remove {name}"));
        let bytes = 2500 + calls.below(1200);
        calls.put(&name, bytes, 512);
    }
}
