//! Many file systems at a time, interleaved and in threads: none knows of another.
#![allow(clippy::unwrap_used)]

mod support;

use flashmark_embedded_fs::{FileSystem, OpenFlags};
use support::{SETS, flash, make_directory, mounted, new, pattern, read_file, write_file};

/// A fixed sequence of operations that touches everything.
fn exercise(fs: &mut dyn FileSystem) {
    make_directory(fs, "/SUB");
    for index in 0..6_u8 {
        write_file(fs, &format!("/SUB/F{index}"), &pattern(index, 3000 * usize::from(index) + 100));
    }
    let file = fs.open("/SUB/F3", OpenFlags::UPDATE).unwrap();
    fs.seek(file, 1000).unwrap();
    fs.write(file, &pattern(99, 5000)).unwrap();
    fs.truncate(file, 7000).unwrap();
    fs.sync(file).unwrap();
    fs.close(file).unwrap();
    fs.remove("/SUB/F1").unwrap();
    fs.rename("/SUB/F2", "/MOVED").unwrap();
    assert_eq!(fs.list("/SUB").unwrap().len(), 4);
    assert!(fs.usage().unwrap().free_bytes > 0);
    fs.unmount().unwrap();
}

fn image(set: usize) -> Vec<u8> {
    let (name, options, kib) = SETS[set];
    let device = flash(kib);
    exercise(&mut *mounted(name, options, &device));
    device.image()
}

#[test]
fn equal_operations_make_equal_images_in_eight_threads() {
    let images: Vec<_> = (0..SETS.len()).map(image).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let images = &images;
            scope.spawn(move || {
                for set in (0..6).map(|set| (set + 2 * thread) % SETS.len()) {
                    assert!(image(set) == images[set], "{:?} in thread {thread}", SETS[set]);
                }
            });
        }
    });
}

#[test]
fn hundred_instances_take_turns() {
    let devices: Vec<_> = (0..100).map(|index| flash(SETS[index % SETS.len()].2)).collect();
    let mut all: Vec<_> = devices
        .iter()
        .enumerate()
        .map(|(index, device)| mounted(SETS[index % SETS.len()].0, SETS[index % SETS.len()].1, device))
        .collect();
    let files: Vec<_> = all.iter_mut().map(|fs| fs.open("/FILE", OpenFlags::CREATE).unwrap()).collect();
    for round in 0..5_u8 {
        for (index, fs) in all.iter_mut().enumerate() {
            let seed = u8::try_from(index).unwrap() ^ round;
            assert_eq!(fs.write(files[index], &pattern(seed, 1700)).unwrap(), 1700);
        }
    }
    for (fs, file) in all.iter_mut().zip(&files) {
        fs.close(*file).unwrap();
    }
    for (index, fs) in all.iter_mut().enumerate() {
        let expected = (0..5_u8).flat_map(|round| pattern(u8::try_from(index).unwrap() ^ round, 1700));
        assert!(read_file(&mut **fs, "/FILE") == expected.collect::<Vec<_>>());
    }
    // Dropped in another order than made, half of them with an open file.
    for (index, fs) in all.iter_mut().enumerate().filter(|(index, _)| index % 2 == 0) {
        let _ = fs.open(&format!("/OPEN{}", index % 10), OpenFlags::CREATE).unwrap();
    }
    while !all.is_empty() {
        drop(all.swap_remove(all.len() / 2));
    }
}

/// A device of one file system that stands on a file of another one, so that calls nest.
mod nested {
    use super::*;
    use flashmark_embedded_fs::{Device, DeviceError, FileId, Geometry, Options, make};

    struct InFile {
        fs: Box<dyn FileSystem>,
        file: FileId,
    }

    const BYTES: u64 = 1 << 20;

    impl InFile {
        fn at(&mut self, address: u64) -> Result<(), DeviceError> {
            self.fs.seek(self.file, address).map(|_| ()).map_err(|error| DeviceError::Failed(error.to_string()))
        }
    }

    impl Device for InFile {
        fn geometry(&self) -> Geometry {
            Geometry { size_bytes: BYTES, read_bytes: 1, program_bytes: 1, erase_bytes: 512 }
        }

        fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError> {
            self.at(address)?;
            self.fs.read(self.file, buffer).map(|_| ()).map_err(|error| DeviceError::Failed(error.to_string()))
        }

        fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
            self.at(address)?;
            self.fs.write(self.file, data).map(|_| ()).map_err(|error| DeviceError::Failed(error.to_string()))
        }

        fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
            self.program(address, &vec![0xFF; usize::try_from(bytes).unwrap()])
        }

        fn sync(&mut self) -> Result<(), DeviceError> {
            Ok(())
        }
    }

    #[test]
    fn a_file_system_inside_a_file_of_another_of_its_kind() {
        for name in ["fatfs", "littlefs"] {
            let flash = flash(4096);
            let mut fs = mounted(name, "", &flash);
            let file = fs.open("/DISK", OpenFlags::UPDATE).unwrap();
            fs.write(file, &vec![0xFF; usize::try_from(BYTES).unwrap()]).unwrap();
            let options = if name == "fatfs" { "sector=512" } else { "block=4k" };
            let options = Options::parse(options.split_whitespace()).unwrap();
            let mut inner = make(name, Box::new(InFile { fs, file }), &options).unwrap();
            inner.format().unwrap();
            inner.mount().unwrap();
            write_file(&mut *inner, "/INNER", &pattern(1, 20_000));
            assert!(read_file(&mut *inner, "/INNER") == pattern(1, 20_000));
            inner.unmount().unwrap();
        }
    }
}

#[test]
fn an_image_moves_between_threads_and_variants() {
    let device = flash(2048);
    let mut fs = mounted("fatfs", "sector=512 cluster=1k", &device);
    write_file(&mut *fs, "/A.BIN", &pattern(7, 9000));
    drop(fs);
    for options in ["sector=512 lfn=on", "sector=512 per-file-buffers=false", "sector=512 lfn=on fast-seek=true"] {
        let device = device.clone();
        std::thread::spawn(move || {
            let mut fs = new("fatfs", options, &device);
            fs.mount().unwrap();
            assert!(read_file(&mut *fs, "/A.BIN") == pattern(7, 9000));
        })
        .join()
        .unwrap();
    }
}
