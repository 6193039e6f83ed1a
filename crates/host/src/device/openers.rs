//! Processes that have a device or file open: `/proc/PID/fd` (proc_pid_fd(5)).

use std::fs;
use std::path::{Path, PathBuf};

use super::identity::Identity;
use super::mounts;
use super::number::DeviceNumber;
use super::usage::Process;

/// A target that another process has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    /// Which target.
    pub(crate) target: Identity,
    /// Whose.
    pub(crate) process: Process,
    /// Whether it can write.
    pub(crate) writes: bool,
}

/// The other processes that have one of `targets` open, as far as this process may see them; each once a target.
pub(crate) fn openers_of(targets: &[Identity]) -> Vec<Opener> {
    let mut found: Vec<Opener> = Vec::new();
    for (pid, dir) in other_processes() {
        let Ok(entries) = fs::read_dir(dir.join("fd")) else { continue };
        for entry in entries.flatten() {
            let Some(target) = identity_of_link(&entry.path()).filter(|open| targets.contains(open)) else { continue };
            let writes = can_write(&dir.join("fdinfo").join(entry.file_name()));
            match found.iter_mut().find(|opener| opener.process.pid == pid && opener.target == target) {
                Some(opener) => opener.writes |= writes,
                None => found.push(Opener { target, process: Process { pid, name: name_of(&dir) }, writes }),
            }
        }
    }
    found
}

/// A process in another mount namespace that sees the device mounted, and where.
pub(crate) fn mounted_elsewhere(number: DeviceNumber) -> Option<(Process, PathBuf)> {
    let mut seen = vec![fs::read_link("/proc/self/ns/mnt").ok()?];
    for (pid, dir) in other_processes() {
        let Ok(namespace) = fs::read_link(dir.join("ns/mnt")) else { continue };
        if seen.contains(&namespace) {
            continue;
        }
        seen.push(namespace);
        let Ok(text) = fs::read(dir.join("mountinfo")) else { continue };
        if let Some(mount) = mounts::parse(&text).into_iter().find(|mount| mount.number == number) {
            return Some((Process { pid, name: name_of(&dir) }, mount.point));
        }
    }
    None
}

fn other_processes() -> impl Iterator<Item = (u32, PathBuf)> {
    let own = std::process::id();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(move |entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .filter(move |(pid, _)| *pid != own)
}

fn name_of(dir: &Path) -> String {
    let name = fs::read(dir.join("comm")).unwrap_or_default();
    String::from_utf8_lossy(&name).trim().to_owned()
}

/// What an entry of `/proc/PID/fd` leads to. The attributes are taken as the kernel has them in memory: asking a dead
/// network file system for fresh ones would block for ever.
fn identity_of_link(link: &Path) -> Option<Identity> {
    use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let found = statx(CWD, link, AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT, wanted).ok()?;
    match FileType::from_raw_mode(found.stx_mode.into()) {
        FileType::BlockDevice => {
            Some(Identity::Device(DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor }))
        }
        FileType::RegularFile => {
            Some(Identity::File { device: makedev(found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino })
        }
        _ => None,
    }
}

/// Whether an open file can write: its `flags` in `/proc/PID/fdinfo`, octal, end in `O_WRONLY` or `O_RDWR`.
fn can_write(fdinfo: &Path) -> bool {
    let text = fs::read_to_string(fdinfo).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 0o3 != 0)
}
