//! Processes that have a device or file open: `/proc/PID/fd` (proc_pid_fd(5)).

use std::fs;
use std::io;
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

/// Who has something open, as far as can be seen from here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Openers {
    /// Each process once a target.
    pub(crate) found: Vec<Opener>,
    /// Which processes could not be looked into, for the user; a phrase each.
    pub(crate) unseen: Vec<String>,
}

/// The other processes that have one of `targets` open.
pub(crate) fn openers_of(targets: &[Identity]) -> Openers {
    let mut found: Vec<Opener> = Vec::new();
    let mut closed = 0_u32;
    for (pid, dir) in other_processes() {
        let entries = match fs::read_dir(dir.join("fd")) {
            Ok(entries) => entries,
            // Gone processes are no matter, and those of the kernel and the dead have nothing open.
            Err(error) => {
                let closed_to_us = error.kind() == io::ErrorKind::PermissionDenied && may_have_files(&dir);
                closed += u32::from(closed_to_us);
                continue;
            }
        };
        for entry in entries.flatten() {
            let Some(target) = identity_of_link(&entry.path()).filter(|open| targets.contains(open)) else { continue };
            let writes = can_write(&dir.join("fdinfo").join(entry.file_name()));
            match found.iter_mut().find(|opener| opener.process.pid == pid && opener.target == target) {
                Some(opener) => opener.writes |= writes,
                None => found.push(Opener { target, process: Process { pid, name: name_of(&dir) }, writes }),
            }
        }
    }
    Openers { found, unseen: unseen(closed) }
}

/// What cannot be seen in `/proc`: `closed` processes that are there, and those that are not even listed.
fn unseen(closed: u32) -> Vec<String> {
    let mut unseen = Vec::new();
    match closed {
        0 => {}
        1 => unseen.push("1 process of another user can't be looked into (root can)".into()),
        _ => unseen.push(format!("{closed} processes of other users can't be looked into (root can)")),
    }
    // The first process of a namespace never ends. A `/proc` mounted with hidepid=invisible or ptraceable leaves out what
    // this user may not look into (proc(5)).
    if !Path::new("/proc/1").exists() {
        unseen.push("processes of other users are hidden (/proc is mounted with hidepid; root sees them)".into());
    }
    // The number of the first namespace is fixed: PROC_PID_INIT_INO of linux/proc_ns.h.
    if fs::read_link("/proc/self/ns/pid").is_ok_and(|namespace| namespace != Path::new("pid:[4026531836]")) {
        unseen.push("processes outside of this container can't be seen".into());
    }
    unseen
}

/// Whether a process has a table of open files: it is no thread of the kernel (PF_KTHREAD of linux/sched.h) and no zombie.
/// Both are in `/proc/PID/stat`, which everybody may read (proc_pid_stat(5)).
fn may_have_files(dir: &Path) -> bool {
    const PF_KTHREAD: u32 = 0x0020_0000;
    let stat = fs::read_to_string(dir.join("stat")).unwrap_or_default();
    // The name before may hold anything, parentheses too. Behind it: state, parent, group, session, terminal and its
    // group, flags.
    let Some((_, fields)) = stat.rsplit_once(')') else { return true };
    let mut fields = fields.split_ascii_whitespace();
    let dead = fields.next().is_some_and(|state| matches!(state, "Z" | "X"));
    let flags = fields.nth(5).and_then(|flags| flags.parse::<u32>().ok()).unwrap_or(0);
    !dead && flags & PF_KTHREAD == 0
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
