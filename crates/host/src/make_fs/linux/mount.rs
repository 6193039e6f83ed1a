//! Mounting, by the calls that tell what a file system has against it (fsopen(2), Linux 5.2).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen, move_mount,
};

use super::super::error::MakeError;

/// Options that are the mount's and not the file system's.
const OF_MOUNT: [(&str, MountAttrFlags); 8] = [
    ("ro", MountAttrFlags::MOUNT_ATTR_RDONLY),
    ("nosuid", MountAttrFlags::MOUNT_ATTR_NOSUID),
    ("nodev", MountAttrFlags::MOUNT_ATTR_NODEV),
    ("noexec", MountAttrFlags::MOUNT_ATTR_NOEXEC),
    ("relatime", MountAttrFlags::MOUNT_ATTR_RELATIME),
    ("noatime", MountAttrFlags::MOUNT_ATTR_NOATIME),
    ("strictatime", MountAttrFlags::MOUNT_ATTR_STRICTATIME),
    ("nodiratime", MountAttrFlags::MOUNT_ATTR_NODIRATIME),
];

/// Mounts what is on a device on a directory, and gives the mount's root.
pub(super) fn mount(kind: &str, node: &Path, options: &[String], point: &Path) -> Result<OwnedFd, MakeError> {
    let failed = |source: rustix::io::Errno, said: Vec<String>| MakeError::Mount {
        file_system: kind.to_owned(),
        options: options.join(","),
        source: source.into(),
        said,
    };
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).map_err(|error| failed(error, Vec::new()))?;
    let mounted = configure(&context, node, options).and_then(|attributes| {
        let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        move_mount(&root, "", CWD, point, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        Ok(root)
    });
    mounted.map_err(|error| failed(error, messages(&context)))
}

fn configure(context: impl AsFd, node: &Path, options: &[String]) -> rustix::io::Result<MountAttrFlags> {
    let context = context.as_fd();
    let mut attributes = MountAttrFlags::empty();
    fsconfig_set_string(context, "source", node)?;
    for option in options {
        match (OF_MOUNT.iter().find(|(name, _)| name == option), option.split_once('=')) {
            (Some((_, attribute)), _) => attributes |= *attribute,
            (None, Some((name, value))) => fsconfig_set_string(context, name, value)?,
            (None, None) => fsconfig_set_flag(context, option.as_str())?,
        }
    }
    fsconfig_create(context)?;
    Ok(attributes)
}

/// What the file system said: a line each, with a letter for its weight before it.
fn messages(context: impl AsFd) -> Vec<String> {
    let mut said = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = rustix::io::read(&context, &mut buffer).map_err(io::Error::from) {
        let line = String::from_utf8_lossy(&buffer[..read]).trim().to_owned();
        if let Some(line) = line.strip_prefix("e ").or_else(|| line.strip_prefix("w ")) {
            said.push(line.to_owned());
        }
    }
    said
}
