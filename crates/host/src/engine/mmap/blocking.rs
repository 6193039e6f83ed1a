//! The blocking side: the file is mapped when it is first used, and again when it has become longer.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::map::Map;
use crate::engine::{Engine, not_open};

pub(super) fn make() -> io::Result<Box<dyn Engine>> {
    Ok(Box::new(Blocking { open: None }))
}

struct Blocking {
    open: Option<(Map, File)>,
}

impl Blocking {
    #[inline]
    fn open(&mut self) -> io::Result<&mut (Map, File)> {
        self.open.as_mut().ok_or_else(not_open)
    }
}

impl Engine for Blocking {
    fn open(&mut self, path: &Path, how: &OpenOptions) -> io::Result<()> {
        self.open = None;
        // Pages cannot be written without being read.
        let file = how.clone().read(true).open(path)?;
        self.open = Some((Map::new(&file)?, file));
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        self.open = None;
        Ok(())
    }

    #[inline]
    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let (map, file) = self.open()?;
        map.read(file, offset, buf)
    }

    #[inline]
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        let (map, file) = self.open()?;
        let end = offset.checked_add(data.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        if end > map.bytes() && file.metadata()?.is_file() {
            // Somebody else may have made it longer already.
            if end > file.metadata()?.len() {
                file.set_len(end)?;
            }
            *map = Map::new(file)?;
        }
        map.write(file, offset, data)
    }

    fn sync(&mut self) -> io::Result<()> {
        let (map, file) = self.open()?;
        map.sync(file)
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let (map, file) = self.open()?;
        file.set_len(bytes)?;
        *map = Map::new(file)?;
        Ok(())
    }

    fn with_file(&mut self, look: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
        let (map, file) = self.open()?;
        // Pages that are mapped do not leave the cache, and dropping the cache is what is looked for at times. The length may
        // change as well.
        *map = Map::none();
        let looked = look(file);
        *map = Map::new(file)?;
        looked
    }
}
