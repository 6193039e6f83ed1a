//! Ids of open files that are of no use after the file is closed.

use crate::error::FsError;
use crate::file_system::FileId;

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Open files by id.
pub(crate) struct Handles<T> {
    slots: Vec<Slot<T>>,
}

impl<T> Handles<T> {
    pub fn new() -> Self {
        Self { slots: Vec::new() }
    }

    pub fn insert(&mut self, value: T) -> FileId {
        let free = self.slots.iter().position(|slot| slot.value.is_none());
        let slot = free.unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, value: None });
            self.slots.len() - 1
        });
        self.slots[slot].value = Some(value);
        FileId { slot: u32::try_from(slot).unwrap_or(u32::MAX), generation: self.slots[slot].generation }
    }

    pub fn get(&self, id: FileId) -> Result<&T, FsError> {
        let slot = self.slots.get(id.slot as usize).filter(|slot| slot.generation == id.generation);
        slot.and_then(|slot| slot.value.as_ref()).ok_or(FsError::UnknownFile)
    }

    pub fn take(&mut self, id: FileId) -> Result<T, FsError> {
        let slot = self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == id.generation);
        let slot = slot.ok_or(FsError::UnknownFile)?;
        let value = slot.value.take().ok_or(FsError::UnknownFile)?;
        slot.generation = slot.generation.wrapping_add(1);
        Ok(value)
    }

    /// Takes any one.
    pub fn take_any(&mut self) -> Option<T> {
        let slot = self.slots.iter_mut().find(|slot| slot.value.is_some())?;
        slot.generation = slot.generation.wrapping_add(1);
        slot.value.take()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.value.as_ref())
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| slot.value.as_mut())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_id_outlives_neither_its_file_nor_the_next_one_in_its_place() {
        let mut files = Handles::new();
        let first = files.insert("first");
        assert_eq!(files.take(first).unwrap(), "first");
        assert_eq!(files.take(first), Err(FsError::UnknownFile));
        let second = files.insert("second");
        assert_eq!(second.slot, first.slot);
        assert_eq!(files.get(first), Err(FsError::UnknownFile));
        assert_eq!(files.take_any(), Some("second"));
        assert_eq!(files.get(second), Err(FsError::UnknownFile));
        assert_eq!(files.take_any(), None);
    }
}
