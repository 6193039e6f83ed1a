//! A control group whose processes may read a device only so often a second. It is gone when dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::linux::failure::Failure;
use crate::linux::program;

/// The hierarchy `blkio` of version 1 of control groups, mounted by us or by the system.
enum Hierarchy {
    Systems(PathBuf),
    Ours(TempDir),
}

impl Hierarchy {
    fn find() -> Result<Self, Failure> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(Failure::io("reading /proc/self/mounts"))?;
        if let Some(path) = mounted(&mounts) {
            return Ok(Self::Systems(path));
        }
        let at = tempfile::tempdir().map_err(Failure::io("making a directory for control groups"))?;
        program::run(Command::new("mount").args(["-t", "cgroup", "-o", "blkio", "none"]).arg(at.path()))?;
        Ok(Self::Ours(at))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Systems(path) => path,
            Self::Ours(at) => at.path(),
        }
    }
}

impl Drop for Hierarchy {
    fn drop(&mut self) {
        if let Self::Ours(at) = self
            && !Command::new("umount").arg(at.path()).status().is_ok_and(|status| status.success())
        {
            eprintln!("flashmark-bench: {} is left mounted", at.path().display());
        }
    }
}

/// Where the hierarchy is mounted, of the lines of `/proc/self/mounts`.
fn mounted(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (path, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup" && options.split(',').any(|option| option == "blkio")).then(|| path.into())
    })
}

/// A group with a limit.
pub struct Throttle {
    // Before the hierarchy, which can go only after it.
    group: Group,
    _hierarchy: Hierarchy,
}

struct Group(PathBuf);

impl Throttle {
    /// A new group that may make so many reads a second of a block device (`/dev/NAME`). It needs root.
    ///
    /// # Errors
    /// The system's, where this kernel has no such hierarchy.
    pub fn reads_a_second(device: &Path, reads: u32) -> Result<Self, Failure> {
        let hierarchy = Hierarchy::find()?;
        let path = hierarchy.path().join(format!("flashmark-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(Failure::io(format!("making the control group {}", path.display())))?;
        let group = Group(path);
        let name = device.file_name().unwrap_or_default();
        let number = Path::new("/sys/class/block").join(name).join("dev");
        let number = fs::read_to_string(&number).map_err(Failure::io(format!("reading {}", number.display())))?;
        let limit = group.0.join("blkio.throttle.read_iops_device");
        fs::write(&limit, format!("{} {reads}", number.trim()))
            .map_err(Failure::io(format!("writing {}", limit.display())))?;
        Ok(Self { group, _hierarchy: hierarchy })
    }

    /// Its directory: a process joins it by its number in the file `cgroup.procs` there.
    pub fn group(&self) -> &Path {
        &self.group.0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process is still in it for a moment after its end.
        let gone = (0..50).any(|_| {
            let gone = fs::remove_dir(&self.0).is_ok();
            if !gone {
                std::thread::sleep(Duration::from_millis(20));
            }
            gone
        });
        if !gone {
            eprintln!("flashmark-bench: the control group {} is left behind", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_among_the_mounts() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
                      cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime,blkio 0 0\n\
                      cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n";
        assert_eq!(mounted(mounts), Some("/sys/fs/cgroup/blkio".into()));
        assert_eq!(mounted("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), None);
    }
}
