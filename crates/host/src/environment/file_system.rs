//! The file system that a path is on.

use std::path::Path;

use flashmark_core::environment::FileSystem;

use super::layers::{self, Layer};
pub use crate::device::mounts::Mount;
use crate::device::{BlockDevice, Sysfs};

/// The mount that a file or directory is on; `None` if the path or `/proc` can't be read, and on other systems.
#[must_use]
pub fn mount_of(path: &Path) -> Option<Mount> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, OFlags};
        let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let id = mount_id(&fd)?;
        Sysfs::default().mounts().ok()?.into_iter().find(|mount| mount.id == id)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

/// The kernel's own word on which mount an open file is on (`mnt_id`, since Linux 3.15). Bind mounts, mounts over mounts
/// and file systems with made-up device numbers leave no other way to tell.
#[cfg(target_os = "linux")]
fn mount_id(fd: &std::os::fd::OwnedFd) -> Option<u64> {
    use std::os::fd::AsRawFd as _;
    let info = Sysfs::default().text(format!("proc/self/fdinfo/{}", fd.as_raw_fd()))?;
    info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
}

/// The block device that a mounted file system is on: by the number, or by its source where the number is made up.
#[must_use]
pub fn device_of_mount(sysfs: &Sysfs, mount: &Mount) -> Option<BlockDevice> {
    if mount.number.is_anonymous() {
        return sysfs.block_of_source(Path::new(&mount.source));
    }
    sysfs.block(mount.number)
}

/// The block device that the file system of a path is on. For a file system on others, such as an overlay, the device of
/// the layer that the path is in, if it can be seen from here.
#[must_use]
pub fn device_below(sysfs: &Sysfs, path: &Path) -> Option<BlockDevice> {
    let mut path = path.to_owned();
    // Overlays on overlays are a few high.
    for _ in 0..8 {
        let mount = mount_of(&path)?;
        if let Some(device) = device_of_mount(sysfs, &mount) {
            return Some(device);
        }
        let Some(Layer::At(below)) = layers::below(&mount, &path) else { return None };
        path = below;
    }
    None
}

/// The file system of a path, without what would tell whose it is.
pub(super) fn describe(path: &Path) -> Option<FileSystem> {
    let mount = mount_of(path)?;
    let mut file_system = FileSystem {
        kind: mount.kind.clone(),
        mount_point: Some(mount.point.display().to_string()),
        source: (!is_remote(&mount.source)).then(|| mount.source.clone()),
        options: Some(without_names(&mount.all_options())),
        ..FileSystem::default()
    };
    #[cfg(target_os = "linux")]
    if let Ok(stat) = rustix::fs::statvfs(path) {
        file_system.size_bytes = stat.f_blocks.checked_mul(stat.f_frsize);
        file_system.free_bytes = stat.f_bavail.checked_mul(stat.f_frsize);
        file_system.block_bytes = Some(stat.f_bsize);
    }
    file_system.options = file_system.options.filter(|options| !options.is_empty());
    Some(file_system)
}

/// `host:/path` of NFS and sshfs, `//host/share` of CIFS: names of machines and people.
fn is_remote(source: &str) -> bool {
    source.starts_with("//") || (!source.starts_with('/') && source.contains(':'))
}

/// Options of network file systems that name people or machines.
const NAMING: [&str; 9] = ["username", "user", "domain", "addr", "clientaddr", "mountaddr", "unc", "password", "cruid"];

fn without_names(options: &str) -> String {
    let names = |option: &&str| !NAMING.contains(&option.split('=').next().unwrap_or_default());
    options.split(',').filter(names).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_and_machines_are_left_out() {
        let cifs = "rw,relatime,vers=3.1.1,username=alice,domain=HOME,addr=192.168.1.7,rsize=4194304";
        assert_eq!(without_names(cifs), "rw,relatime,vers=3.1.1,rsize=4194304");
        assert_eq!(without_names("rw,user_xattr"), "rw,user_xattr");
        assert!(is_remote("//nas/alice"));
        assert!(is_remote("nas:/export/alice"));
        assert!(is_remote("alice@nas:"));
        assert!(!is_remote("/dev/disk/by-path/pci-0000:00:1f.2"));
        assert!(!is_remote("tmpfs"));
    }
}
