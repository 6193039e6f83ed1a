//! littlefs images, read by PyPI's littlefs-python, and its images by ours.
//!
//! The Python that has it is told by `FLASHMARK_PYTHON`, or is `python3`.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{flash, mounted, new, pattern, read_file, skip, write_file};

/// The Python that can import littlefs; else the check is skipped.
fn python() -> Option<String> {
    let python = std::env::var("FLASHMARK_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import littlefs"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skip("littlefs-python (set FLASHMARK_PYTHON to a Python that has it)");
    None
}

fn run(python: &str, program: &str, folder: &Path) {
    let output = Command::new(python).args(["-c", program]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Options of ours, and the arguments of its constructor that go with them.
const GEOMETRIES: &[(&str, &str, u64)] = &[
    ("", "read_size=128, prog_size=128, block_size=4096, cache_size=512, lookahead_size=128, block_count=512", 2048),
    (
        "read=16 program=16 cache=64 lookahead=16 block=512 mtime=off",
        "read_size=16, prog_size=16, block_size=512, cache_size=64, lookahead_size=16, block_count=1024",
        512,
    ),
    (
        "read=1 program=1 cache=256 mtime=on-commit disk-version=2.0",
        "read_size=1, prog_size=1, block_size=4096, cache_size=256, lookahead_size=128, block_count=256, \
         disk_version=0x00020000",
        1024,
    ),
];

#[test]
fn it_reads_what_we_wrote() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    for (options, arguments, kib) in GEOMETRIES {
        let device = flash(*kib);
        let mut fs = mounted("littlefs", options, &device);
        fs.mkdir("/sub").unwrap();
        for index in 0..30_u8 {
            write_file(&mut *fs, &format!("/sub/file {index}"), &pattern(index, 311 * usize::from(index)));
        }
        fs.remove("/sub/file 3").unwrap();
        fs.rename("/sub/file 4", "/moved").unwrap();
        fs.unmount().unwrap();
        std::fs::write(dir.path().join("image"), device.image()).unwrap();
        for (index, name) in [(29_u8, "/sub/file 29"), (4, "/moved"), (1, "/sub/file 1")] {
            std::fs::write(dir.path().join("expected"), pattern(index, 311 * usize::from(index))).unwrap();
            let program = format!(
                "from littlefs import LittleFS\n\
                 fs = LittleFS({arguments}, mount=False)\n\
                 fs.context.buffer = bytearray(open('image', 'rb').read())\n\
                 fs.mount()\n\
                 assert fs.open('{name}', 'rb').read() == open('expected', 'rb').read()\n\
                 assert len(fs.listdir('/sub')) == 28\n\
                 assert ('{options}'.find('mtime=off') >= 0) or len(fs.getattr('{name}', b't')) == 8\n"
            );
            run(&python, &program, dir.path());
        }
    }
}

#[test]
fn we_read_what_it_wrote_and_it_what_we_add() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    for (options, arguments, kib) in GEOMETRIES {
        std::fs::write(dir.path().join("source"), pattern(8, 40_000)).unwrap();
        let program = format!(
            "from littlefs import LittleFS\n\
             fs = LittleFS({arguments})\n\
             fs.makedirs('/a/b')\n\
             data = open('source', 'rb').read()\n\
             for i in range(20):\n\
             \x20   f = fs.open('/a/b/%d' % i, 'wb'); f.write(data[:i * 150]); f.close()\n\
             f = fs.open('/big', 'wb'); f.write(data); f.close()\n\
             fs.unmount()\n\
             open('image', 'wb').write(fs.context.buffer)\n"
        );
        run(&python, &program, dir.path());
        let device = flash(*kib);
        device.load(&std::fs::read(dir.path().join("image")).unwrap());
        let mut fs = new("littlefs", options, &device);
        fs.mount().unwrap();
        assert!(read_file(&mut *fs, "/big") == pattern(8, 40_000));
        assert!(read_file(&mut *fs, "/a/b/17") == pattern(8, 40_000)[..17 * 150]);
        assert_eq!(fs.list("/a/b").unwrap().len(), 20);
        write_file(&mut *fs, "/a/ours", &pattern(10, 9000));
        fs.remove("/a/b/5").unwrap();
        fs.unmount().unwrap();
        std::fs::write(dir.path().join("image"), device.image()).unwrap();
        std::fs::write(dir.path().join("expected"), pattern(10, 9000)).unwrap();
        let program = format!(
            "from littlefs import LittleFS\n\
             fs = LittleFS({arguments}, mount=False)\n\
             fs.context.buffer = bytearray(open('image', 'rb').read())\n\
             fs.mount()\n\
             assert fs.open('/a/ours', 'rb').read() == open('expected', 'rb').read()\n\
             assert len(fs.listdir('/a/b')) == 19\n"
        );
        run(&python, &program, dir.path());
    }
}
