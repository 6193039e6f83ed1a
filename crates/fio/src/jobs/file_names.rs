//! How a job's files are called (fio HOWTO, "Target file/device", filename, directory and filename_format).

use super::Job;
use crate::surroundings::Surroundings;

impl Job {
    /// The files of one copy of the job, counted from 0.
    ///
    /// They are those of `filename`, the same for every copy; or the job's own name, if that is a device or the like; or
    /// `nrfiles` names made by `filename_format`. Each is in `directory`; copies take turns with several of them.
    pub fn file_names<'a>(&'a self, copy: u32, surroundings: &dyn Surroundings) -> impl Iterator<Item = String> + 'a {
        let files = &self.options.files;
        let special = files.filename.is_empty() && files.nrfiles == 1 && surroundings.is_special(&self.name);
        let (turn, count) = match files.filename.len() {
            0 if special => (copy, 1),
            0 => (copy, files.nrfiles),
            given => (0, given.try_into().unwrap_or(u32::MAX)),
        };
        (0..count).map(move |file| {
            let name = match files.filename.get(file as usize) {
                Some(name) => name.clone(),
                None if special => self.name.clone(),
                None => self.made_name(copy, file),
            };
            match files.directory.as_slice() {
                [] => name,
                directories => format!("{}/{name}", directories[turn as usize % directories.len()]),
            }
        })
    }

    fn made_name(&self, copy: u32, file: u32) -> String {
        let mut name = self.options.files.filename_format.clone();
        let words = [("$jobname", self.name.clone()), ("$jobnum", copy.to_string()), ("$filenum", file.to_string())];
        for (word, meaning) in words {
            let mut rest = std::mem::take(&mut name);
            while let Some(at) = rest.to_ascii_lowercase().find(word) {
                name.push_str(&rest[..at]);
                name.push_str(&meaning);
                rest = rest.split_off(at + word.len());
            }
            name.push_str(&rest);
        }
        name
    }
}
