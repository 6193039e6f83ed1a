//! File systems that keep their files in another one: where the bytes of a path are then.

use std::path::{Path, PathBuf};

use super::file_system::{Mount, mount_of};

/// Where the bytes of a path on a stacked file system are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// At this path, of a directory or file.
    At(PathBuf),
    /// Out of sight: in another mount namespace, covered by another mount, or only the file system's program knows.
    Unseen,
}

/// The layer that a path of this mount is in: of an existing file the one that it is read from, of a directory the one
/// that new files in it are written to. `None` for a file system that is on no other.
pub(super) fn below(mount: &Mount, path: &Path) -> Option<Layer> {
    let found = match mount.kind.as_str() {
        "overlay" if path.is_dir() => upper_directory(mount, path),
        "overlay" => layer_of_file(mount, path),
        "ecryptfs" => source(mount),
        "aufs" | "unionfs" => None,
        // Programs such as bindfs and gocryptfs name the directory that they show as their source (fsname of
        // mount.fuse3(8)); with most others it is a name.
        kind if kind == "fuse" || kind.starts_with("fuse.") => source(mount),
        _ => return None,
    };
    // A path that leads back into the mount has been covered by it.
    let found = found.filter(|layer| mount_of(layer).is_some_and(|other| other.id != mount.id));
    Some(found.map_or(Layer::Unseen, Layer::At))
}

fn source(mount: &Mount) -> Option<PathBuf> {
    let path = PathBuf::from(&mount.source);
    let is_there = path.has_root() && path.metadata().is_ok_and(|meta| meta.is_dir() || meta.is_file());
    is_there.then_some(path)
}

/// The upper layer of an overlay, if the path that it was mounted with still leads there: it is one of the mounting
/// process's mount namespace, perhaps that of an initial RAM disk. An overlay's size is its upper file system's
/// (`ovl_statfs` of fs/overlayfs/super.c), by which another one is found out. `path` is any on the overlay.
fn upper_directory(mount: &Mount, path: &Path) -> Option<PathBuf> {
    let upper = PathBuf::from(mount.super_option("upperdir")?);
    (upper.is_dir() && size(&upper)? == size(path)?).then_some(upper)
}

/// Where an overlay reads a file from: the first layer that has it.
fn layer_of_file(mount: &Mount, path: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(path).ok()?;
    let below_root = path.strip_prefix(&mount.point).ok()?;
    let inside = mount.root.strip_prefix("/").ok()?.join(below_root);
    let own = path.metadata().ok()?;
    // The same as a sign of not being another file by the same name.
    let same = |layer: &PathBuf| {
        let meta = layer.symlink_metadata().ok();
        meta.is_some_and(|meta| {
            meta.is_file() && meta.len() == own.len() && meta.modified().ok() == own.modified().ok()
        })
    };
    upper_directory(mount, &path)
        .into_iter()
        .chain(lower_directories(mount))
        .map(|layer| layer.join(&inside))
        .find(same)
}

/// `lowerdir=A:B`, since Linux 6.7 also `lowerdir+=A,lowerdir+=B`. The upper ones come first.
fn lower_directories(mount: &Mount) -> Vec<PathBuf> {
    let options = mount.super_options.split(',');
    let listed = options.filter_map(|option| option.strip_prefix("lowerdir=").or(option.strip_prefix("lowerdir+=")));
    listed.flat_map(|list| list.split(':')).filter(|dir| !dir.is_empty()).map(PathBuf::from).collect()
}

#[cfg(target_os = "linux")]
fn size(path: &Path) -> Option<(u64, u64)> {
    rustix::fs::statvfs(path).ok().map(|stat| (stat.f_blocks, stat.f_frsize))
}

#[cfg(not(target_os = "linux"))]
fn size(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::mounts;

    fn layer(kind_and_source: &str, path: &Path) -> Option<Layer> {
        let line = format!("36 35 0:98 / /mnt rw - {kind_and_source} rw\n");
        let mount = Mount { id: u64::MAX, ..mounts::parse(line.as_bytes()).remove(0) };
        below(&mount, path)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn programs_that_name_what_they_show() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("image");
        std::fs::write(&file, "x").unwrap();
        for (kind, source) in [("fuse", dir.path()), ("fuse.gocryptfs", dir.path()), ("ecryptfs", &file)] {
            let found = layer(&format!("{kind} {}", source.display()), Path::new("/mnt/file"));
            assert_eq!(found, Some(Layer::At(source.into())), "{kind}");
        }
    }

    #[test]
    fn what_only_the_program_knows_is_unseen() {
        let some =
            ["fuse.sshfs me@host:", "fuse.mergerfs a:b", "fuse /dev/fuse", "fuse.x /nowhere/at/all", "aufs none"];
        for mount in some {
            assert_eq!(layer(mount, Path::new("/mnt/file")), Some(Layer::Unseen), "{mount}");
        }
        assert_eq!(layer("overlay none", Path::new("/mnt/file")), Some(Layer::Unseen));
        for mount in ["nfs4 host:/export", "tmpfs none", "btrfs /dev/sda1"] {
            assert_eq!(layer(mount, Path::new("/mnt/file")), None, "{mount}");
        }
    }

    #[test]
    fn lists_of_lower_layers() {
        let mount = |options: &str| {
            let line = format!("36 35 0:98 / /mnt rw - overlay none {options}\n");
            lower_directories(&mounts::parse(line.as_bytes())[0])
        };
        assert_eq!(mount("ro,lowerdir=/a:/b::/data,x=y"), ["/a", "/b", "/data"].map(PathBuf::from));
        assert_eq!(mount("rw,lowerdir+=/a,lowerdir+=/b,upperdir=/c"), ["/a", "/b"].map(PathBuf::from));
    }
}
