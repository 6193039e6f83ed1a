//! Several handles of one file, writes that wait, and what becomes of handles: what the README says that the C code gets
//! wrong.
#![allow(clippy::unwrap_used)]

mod ram;

use ram::{Effect, Fault, Ram, Room, Volume};
use spiffs::{Config, Error, File, OpenFlags, SeekFrom};

const CONFIG: Config = Config::esp_idf(64 * 1024);
const RW: OpenFlags = OpenFlags::READ_WRITE;
const NEW: OpenFlags = OpenFlags::READ_WRITE.union(OpenFlags::CREATE);

fn formatted() -> Ram {
    let mut flash = Ram::new(&CONFIG);
    spiffs::format(&mut flash, &CONFIG).unwrap();
    flash
}

/// Runs on an empty volume.
fn on_volume(test: impl FnOnce(&mut Volume<'_, Ram>)) {
    let mut room = Room::new(&CONFIG, 4, 4);
    let mut volume = Volume::mount(formatted(), CONFIG, room.lend()).unwrap();
    test(&mut volume);
    assert_eq!(volume.flash().breach, None);
}

fn content(volume: &mut Volume<'_, Ram>, name: &str) -> Vec<u8> {
    let file = volume.open(name, OpenFlags::READ).unwrap();
    let mut content = vec![0; 4096];
    let read = volume.read(file, &mut content).unwrap();
    volume.close(file).unwrap();
    content.truncate(read);
    content
}

/// Waiting writes survive a new name and new metadata, whichever way the file came to have no content.
#[test]
fn waiting_writes_survive_changes_of_the_header() {
    let empty: [fn(&mut Volume<'_, Ram>) -> File; 3] = [
        |volume| volume.open("a", NEW).unwrap(),
        |volume| {
            let file = volume.open("a", NEW).unwrap();
            volume.write(file, &[7; 600]).unwrap();
            volume.close(file).unwrap();
            volume.open("a", RW | OpenFlags::TRUNCATE).unwrap()
        },
        |volume| {
            let file = volume.open("a", NEW).unwrap();
            volume.write(file, &[7; 600]).unwrap();
            volume.truncate(file, 0).unwrap();
            file
        },
    ];
    let change: [fn(&mut Volume<'_, Ram>, File); 3] = [
        |volume, _| volume.rename("a", "b").and_then(|()| volume.rename("b", "a")).unwrap(),
        |volume, _| volume.set_meta("a", b"meta").unwrap(),
        |volume, file| volume.set_meta_open(file, b"meta").unwrap(),
    ];
    for empty in empty {
        for change in change {
            on_volume(|volume| {
                let file = empty(volume);
                volume.write(file, b"abc").unwrap();
                change(volume, file);
                volume.write(file, b"def").unwrap();
                volume.close(file).unwrap();
                assert_eq!(content(volume, "a"), b"abcdef");
            });
        }
    }
}

#[test]
fn a_read_sees_what_waits_for_another_handle() {
    on_volume(|volume| {
        let (a, b) = (volume.open("f", NEW).unwrap(), volume.open("f", RW).unwrap());
        volume.write(a, b"x").unwrap();
        volume.write(b, b"yz").unwrap();
        let mut byte = [0];
        assert_eq!(volume.read(a, &mut byte), Ok(1));
        assert_eq!(&byte, b"z");
    });
    on_volume(|volume| {
        let a = volume.open("f", NEW).unwrap();
        let direct = volume.open("f", RW | OpenFlags::DIRECT).unwrap();
        volume.write(a, b"x").unwrap();
        let mut byte = [0];
        assert_eq!(volume.read(direct, &mut byte), Ok(1));
        assert_eq!(&byte, b"x");
    });
}

/// What waits when the file is emptied is dropped, and no position stays behind the end.
#[test]
fn emptying_a_file_empties_it_for_all_handles() {
    on_volume(|volume| {
        let a = volume.open("f", NEW).unwrap();
        volume.write(a, b"x").unwrap();
        let b = volume.open("f", RW | OpenFlags::TRUNCATE).unwrap();
        volume.write(a, b"y").unwrap();
        volume.flush(a).unwrap();
        volume.close(b).unwrap();
        volume.close(a).unwrap();
        assert_eq!(content(volume, "f"), b"y");
    });
}

#[test]
fn an_append_goes_behind_what_waits_for_another_handle() {
    for flags in [OpenFlags::APPEND, OpenFlags::APPEND | OpenFlags::DIRECT] {
        on_volume(|volume| {
            let (a, b) = (volume.open("f", NEW).unwrap(), volume.open("f", RW | flags).unwrap());
            volume.write(a, b"one").unwrap();
            volume.write(b, &[b'2'; 300]).unwrap();
            assert_eq!(volume.position(b), Ok(303));
            volume.close(a).unwrap();
            volume.close(b).unwrap();
            assert_eq!(content(volume, "f"), [&b"one"[..], &[b'2'; 300]].concat());
        });
    }
}

/// A volume on which the next program fails, and the flash works again after the first failure that was told.
fn with_a_failure(test: impl FnOnce(&mut Volume<'_, Ram>, &dyn Fn(&mut Ram), &dyn Fn(&mut Ram))) {
    on_volume(|volume| {
        let fail = |flash: &mut Ram| flash.cut = Some((flash.changes, Effect::Nothing));
        let mend = |flash: &mut Ram| {
            let bytes = flash.restarted();
            *flash = bytes;
        };
        test(volume, &fail, &mend);
    });
}

/// Whoever has to store what another one wrote gets the error, and the writer is told, too.
#[test]
fn the_writer_is_told_of_what_others_could_not_store() {
    with_a_failure(|volume, fail, mend| {
        let (writer, other) = (volume.open("f", NEW).unwrap(), volume.open("f", RW).unwrap());
        volume.write(writer, b"abc").unwrap();
        fail(volume.flash());
        assert_eq!(volume.position(other), Err(Error::Flash(Fault::OutOfPower)));
        mend(volume.flash());
        assert_eq!(volume.flush(writer), Err(Error::DataLost));
        assert_eq!(volume.flush(writer), Ok(()));
        volume.close(writer).unwrap();
    });
}

/// The cache does not show what did not get to the flash, and positions do not stay behind the end.
#[test]
fn after_a_failure_the_volume_is_what_the_flash_has() {
    with_a_failure(|volume, fail, mend| {
        let file = volume.open("f", NEW).unwrap();
        volume.write(file, b"hello").unwrap();
        volume.flush(file).unwrap();
        volume.write(file, b" world").unwrap();
        fail(volume.flash());
        assert_eq!(volume.flush(file), Err(Error::Flash(Fault::OutOfPower)));
        mend(volume.flash());
        assert_eq!(volume.position(file), Ok(5));
        volume.write(file, b"!").unwrap();
        volume.close(file).unwrap();
        assert_eq!(volume.stat("f").unwrap().size_bytes, 6);
        assert_eq!(content(volume, "f"), b"hello!");
    });
}

#[test]
fn handles_end_with_their_file_and_their_volume() {
    let mut room = Room::new(&CONFIG, 1, 4);
    let mut volume = Volume::mount(formatted(), CONFIG, room.lend()).unwrap();
    let closed = volume.open("a", NEW).unwrap();
    volume.close(closed).unwrap();
    let removed = volume.open("b", NEW).unwrap();
    assert_eq!(volume.write(closed, b"x"), Err(Error::FileClosed));
    volume.remove_open(removed).unwrap();
    let open = volume.open("c", NEW).unwrap();
    assert_eq!(volume.write(removed, b"x"), Err(Error::FileClosed));
    volume.seek(open, SeekFrom::Start(0)).unwrap();
    let flash = volume.abandon();
    let mut volume = Volume::mount(flash, CONFIG, room.lend()).unwrap();
    volume.open("a", RW).unwrap();
    assert_eq!(volume.write(open, b"x"), Err(Error::FileClosed));
}

/// Words of four bytes, as some drivers have them.
mod words {
    use embedded_storage::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};

    pub struct Words(pub Vec<u8>);

    impl ErrorType for Words {
        type Error = core::convert::Infallible;
    }

    impl ReadNorFlash for Words {
        const READ_SIZE: usize = 4;

        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
            assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4));
            bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
            Ok(())
        }

        fn capacity(&self) -> usize {
            self.0.len()
        }
    }

    impl NorFlash for Words {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = 4096;

        fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
            self.0[from as usize..to as usize].fill(0xff);
            Ok(())
        }

        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
            assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4));
            self.0[offset as usize..].iter_mut().zip(bytes).for_each(|(old, new)| *old &= new);
            Ok(())
        }
    }

    impl MultiwriteNorFlash for Words {}
}

/// The same volume comes about, whatever words the flash has.
#[test]
fn larger_words_are_padded() {
    fn write<F: spiffs::Flash>(mut flash: F) -> F {
        spiffs::format(&mut flash, &CONFIG).unwrap();
        let mut room = Room::new(&CONFIG, 2, 2);
        let mut volume = Volume::mount(flash, CONFIG, room.lend()).unwrap();
        for bytes in [1, 2, 3, 250, 251, 252, 1000] {
            let file = volume.open("log", NEW | OpenFlags::APPEND).unwrap();
            volume.write(file, &vec![bytes as u8; bytes]).unwrap();
            volume.close(file).unwrap();
        }
        let file = volume.open("log", OpenFlags::READ).unwrap();
        let mut read = vec![0; 2000];
        assert_eq!(volume.read(file, &mut read).unwrap(), 1759);
        assert_eq!(read[1758], (1000 & 0xff) as u8);
        volume.unmount().0
    }
    let words = write(spiffs::Nor(words::Words(vec![0xff; 64 * 1024])));
    assert!(words.0.0 == write(Ram::new(&CONFIG)).bytes);
}
