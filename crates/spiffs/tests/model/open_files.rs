//! Calls on open files.

use spiffs::{Error, Flash, OpenFlags, SeekFrom};

use crate::ram::Volume;
use crate::{Call, Handle, Model, check_info, name, no_room};

impl Model {
    /// A call on the open file `slot`, which is the file `number`.
    pub fn run_open<F: Flash>(&mut self, volume: &mut Volume<'_, F>, call: &Call, slot: usize, number: u8)
    where
        F::Error: PartialEq,
    {
        let Handle { file, flags, position, .. } = self.handles[slot];
        let stored = self.files.get_mut(&number).unwrap();
        let size = stored.content().len();
        let (readable, writable) = (flags.contains(OpenFlags::READ), flags.contains(OpenFlags::WRITE));
        // Whether the call stores what waits.
        let mut stores = false;
        let mut lost = None;
        // Some calls store what waits, and leave it to the next flush to say that they could not.
        let was_stored = stored.is_stored();
        let is_lost = |volume: &mut Volume<'_, F>| !was_stored && volume.flush(file).is_err();
        match *call {
            Call::Read(_, bytes) => {
                let mut buffer = vec![0; bytes];
                let result = volume.read(file, &mut buffer);
                if !readable {
                    assert!(result == Err(Error::NotReadable));
                    return;
                }
                let read = result.unwrap();
                if is_lost(volume) {
                    lost = Some(Error::DataLost);
                } else {
                    let end = size.min(position + bytes);
                    assert_eq!(read, end.saturating_sub(position));
                    assert!(
                        buffer[..read] == stored.content()[position.min(end)..end],
                        "{read} at {position} of {size}"
                    );
                    self.handles[slot].position = position + read;
                }
            }
            Call::Write(_, bytes) => {
                let data = self.random.bytes(bytes);
                let result = volume.write(file, &data);
                if !writable {
                    assert!(result == Err(Error::NotWritable));
                    return;
                }
                let from = if flags.contains(OpenFlags::APPEND) { size } else { position };
                let end = from + bytes;
                if bytes > 0 {
                    stored.change(|content| {
                        content.resize(size.max(end), 0);
                        content[from..end].copy_from_slice(&data);
                    });
                }
                match result {
                    Ok(written) => {
                        assert_eq!(written, bytes);
                        self.handles[slot].position = if bytes > 0 { end } else { position };
                    }
                    Err(error) => lost = Some(error),
                }
            }
            Call::Seek(_, to) => {
                let result = volume.seek(file, to);
                let target = match to {
                    SeekFrom::Start(to) => i64::from(to),
                    SeekFrom::Current(by) => position as i64 + i64::from(by),
                    SeekFrom::End(by) => size as i64 + i64::from(by),
                };
                if is_lost(volume) {
                    lost = Some(Error::DataLost);
                } else if target < 0 {
                    assert!(result == Err(Error::SeekBounds));
                } else if target > size as i64 {
                    assert!(result == Err(Error::EndOfFile));
                    self.handles[slot].position = size;
                } else {
                    assert_eq!(i64::from(result.unwrap()), target);
                    self.handles[slot].position = target as usize;
                }
            }
            Call::Truncate(_, to) => {
                let to = if to == 4999 { size as u32 } else { to };
                let result = volume.truncate(file, to);
                if !writable {
                    assert!(result == Err(Error::NotWritable));
                    return;
                }
                let shorter = to as usize <= size;
                if shorter {
                    stored.change(|content| content.truncate(to as usize));
                }
                match result {
                    _ if is_lost(volume) => lost = Some(Error::DataLost),
                    Ok(()) => {
                        assert!(shorter);
                        self.clamp(number);
                        stores = true;
                    }
                    Err(Error::EndOfFile) => assert!(!shorter),
                    Err(error) => lost = Some(error),
                }
            }
            Call::Flush(_) => match volume.flush(file) {
                Ok(()) => stores = true,
                Err(error) => lost = Some(error),
            },
            Call::Close(_) => match volume.close(file) {
                Ok(()) => {
                    self.handles.remove(slot);
                    stores = true;
                }
                Err(error) => lost = Some(error),
            },
            Call::Position(_) => {
                let (told, at_end) = (volume.position(file), volume.is_at_end(file));
                match (told, at_end) {
                    (Ok(told), Ok(at_end)) => {
                        assert_eq!(told as usize, position);
                        assert_eq!(at_end, position >= size);
                    }
                    (Err(error), _) | (_, Err(error)) => lost = Some(error),
                }
            }
            Call::RemoveOpen(_) => {
                let result = volume.remove_open(file);
                if writable {
                    result.unwrap();
                    self.removed(number);
                } else {
                    assert!(result == Err(Error::NotWritable));
                }
                return;
            }
            Call::SetMetaOpen(_) => {
                if !self.settle(volume, number) {
                    return;
                }
                let meta = self.random.bytes(self.setup.config.meta_bytes.into());
                let result = volume.set_meta_open(file, &meta);
                if meta.is_empty() {
                    assert!(result == Err(Error::MetaLength));
                } else if !writable {
                    assert!(result == Err(Error::NotWritable));
                } else if let Err(error) = result {
                    lost = Some(error);
                } else {
                    self.files.get_mut(&number).unwrap().meta = meta;
                }
            }
            Call::StatOpen(_) => {
                let info = volume.stat_open(file).unwrap();
                assert_eq!(info.name, name(number, &self.setup.config));
                check_info(stored, &info);
                if is_lost(volume) {
                    lost = Some(Error::DataLost);
                }
            }
            _ => unreachable!(),
        }
        if let Some(error) = lost {
            assert!(no_room(&error) || error == Error::DataLost, "{error}");
            self.full(volume);
        } else if stores {
            self.files.get_mut(&number).unwrap().stored();
        }
    }
}
