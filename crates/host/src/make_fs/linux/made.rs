//! A file system from its making to its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::error::MakeError;
use super::super::spec::FsSpec;
use super::live::Live;
use super::loop_device::{LoopDevice, until_detached};
use super::namespace::PrivateMounts;
use super::{directory, image, mount, program};
use crate::test_file::TestFile;

/// A mounted file system that was made to be measured. Dropped, it is unmounted and removed, and errors are lost; see
/// [`MadeFs::remove`].
#[derive(Debug)]
pub struct MadeFs {
    dir: PathBuf,
    /// `None` when it is removed.
    parts: Option<Parts>,
    directory: PathBuf,
    made_with: Vec<String>,
}

#[derive(Debug)]
struct Parts {
    point: Arc<Live>,
    loop_name: String,
    /// Held until the mount keeps it up.
    device: Option<LoopDevice>,
    image: TestFile,
}

/// Makes a file system in an image of `image_bytes` in `dir`, and mounts it. Takes as long as writing the image takes.
/// `stop` is asked now and then whether to give up.
///
/// # Errors
/// [`MakeError`], [`MakeError::Interrupted`] if `stop` said so; nothing stays then.
pub fn make(
    _: &PrivateMounts,
    dir: &Path,
    spec: &FsSpec,
    image_bytes: u64,
    stop: &dyn Fn() -> bool,
) -> Result<MadeFs, MakeError> {
    let failed = |source| MakeError::Image { dir: dir.to_owned(), source };
    // Mounts are undone by their path, whatever becomes of the working directory.
    let dir = dir.canonicalize().map_err(failed)?;
    image::check_room(&dir, image_bytes)?;
    let entry = spec.entry();
    let recipe = spec.recipe();
    let image = image::create(&dir, image_bytes, stop)?;
    let device = LoopDevice::attach(image.lease(), image.path())?;
    let (loop_name, node) = (device.name.clone(), device.node.clone());
    program::make(entry, &recipe.mkfs, &node, stop)?;
    image::fill(&dir, image.lease(), stop)?;
    let point = Live::create(&dir).map_err(failed)?;
    let parts = Parts { point: Arc::clone(&point), loop_name, device: Some(device), image };
    // From now on its drop undoes it.
    let mut made = MadeFs { dir, parts: Some(parts), directory: PathBuf::new(), made_with: told(spec) };
    point.mounted(mount::mount(entry.name, &node, &recipe.mount, point.path())?);
    if let Some(parts) = &mut made.parts {
        parts.device = None;
    }
    made.directory = directory::make(point.path(), &recipe.directory)?;
    if stop() {
        return Err(MakeError::Interrupted);
    }
    Ok(made)
}

/// As records tell how it was made.
fn told(spec: &FsSpec) -> Vec<String> {
    let recipe = spec.recipe();
    let mut told = vec![program::command_line(spec.entry(), &recipe.mkfs)];
    if !recipe.mount.is_empty() {
        told.push(format!("mount -o {}", recipe.mount.join(",")));
    }
    told.extend(recipe.directory.iter().map(|step| step.told().to_owned()));
    told
}

impl MadeFs {
    /// The directory to be measured: empty, on the file system.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How it was made: mkfs's command line without the device, the options of the mount, what was done to the directory.
    #[must_use]
    pub fn made_with(&self) -> &[String] {
        &self.made_with
    }

    /// Unmounts it, and removes its image. Nothing is to be open on it any more.
    ///
    /// # Errors
    /// [`MakeError::Remove`] with what stays.
    pub fn remove(mut self) -> Result<(), MakeError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), MakeError> {
        let Some(Parts { point, loop_name, device, image }) = self.parts.take() else { return Ok(()) };
        let image_path = image.path().to_owned();
        let stays = |path: &Path| {
            let (path, dir) = (path.to_owned(), self.dir.clone());
            move |source| MakeError::Remove { path, dir, source }
        };
        let unmounted = point.remove().map_err(stays(point.path()));
        drop(device);
        if unmounted.is_ok() {
            until_detached(&loop_name, &image_path);
        }
        let removed = image.remove().map_err(stays(&image_path));
        unmounted.and(removed)
    }
}

impl Drop for MadeFs {
    fn drop(&mut self) {
        // The way out of an error that is told already.
        let _ = self.undo();
    }
}
