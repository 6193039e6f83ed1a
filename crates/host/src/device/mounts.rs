//! Mounted file systems: `/proc/PID/mountinfo` (proc_pid_mountinfo(5)).

use std::path::{Path, PathBuf};

use super::escape;
use super::number::DeviceNumber;

/// A mounted file system, one line of `mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The mount's number, unique in its namespace.
    pub id: u64,
    /// The device that `st_dev` of its files shows; anonymous for btrfs, overlay, tmpfs and the like.
    pub number: DeviceNumber,
    /// The directory of the file system that is visible here; not `/` for bind mounts and subvolumes.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Options of this mount, comma separated.
    pub options: String,
    /// The file system's type as the kernel names it, e.g. `ext4`.
    pub kind: String,
    /// What is mounted, e.g. `/dev/sda1`; whatever the mounting program said for file systems without a device.
    pub source: String,
    /// Options of the file system, comma separated.
    pub super_options: String,
}

impl Mount {
    /// The options of the mount, then those of the file system that are not among them, comma separated.
    #[must_use]
    pub fn all_options(&self) -> String {
        let mut all: Vec<&str> = Vec::new();
        for option in self.options.split(',').chain(self.super_options.split(',')) {
            if !option.is_empty() && !all.contains(&option) {
                all.push(option);
            }
        }
        all.join(",")
    }

    /// The value of an option `name=value` of the file system.
    #[must_use]
    pub fn super_option(&self, name: &str) -> Option<&str> {
        self.super_options.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether files on it live in memory only.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        matches!(self.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs")
    }

    /// Whether other machines, or the host of a virtual one, can change files on it.
    #[must_use]
    pub fn is_network(&self) -> bool {
        let kinds = ["nfs", "nfs4", "cifs", "smb3", "ceph", "afs", "9p", "virtiofs", "lustre", "gfs2", "ocfs2"];
        kinds.contains(&self.kind.as_str()) || matches!(self.kind.as_str(), "fuse.sshfs" | "fuse.glusterfs")
    }
}

/// Reads the text of a `mountinfo`. Lines that are not of its form are left out.
#[must_use]
pub fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|&b| b == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&b| b == b' ');
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse().ok();
    let id = number(fields.next()?)?;
    let _parent: u64 = number(fields.next()?)?;
    let device = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let root = escape::path(fields.next()?);
    let point = escape::path(fields.next()?);
    let options = escape::text(fields.next()?);
    // Any number of optional fields (`shared:1`), ended by a lone hyphen.
    fields.by_ref().find(|field| *field == b"-")?;
    let kind = escape::text(fields.next()?);
    let source = escape::text(fields.next()?);
    let super_options = fields.next().map(escape::text).unwrap_or_default();
    Some(Mount { id, number: device, root, point, options, kind, source, super_options })
}

/// The mount that a path without symlinks is on, by its spelling: the last one mounted on the longest of its parents.
#[must_use]
pub fn containing<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts.iter().filter(|mount| path.starts_with(&mount.point)).max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_manual_pages_example() {
        let line = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n";
        let mounts = parse(line);
        insta::assert_debug_snapshot!(mounts, @r#"
        [
            Mount {
                id: 36,
                number: DeviceNumber {
                    major: 98,
                    minor: 0,
                },
                root: "/mnt1",
                point: "/mnt2",
                options: "rw,noatime",
                kind: "ext3",
                source: "/dev/root",
                super_options: "rw,errors=continue",
            },
        ]
        "#);
        assert_eq!(mounts[0].all_options(), "rw,noatime,errors=continue");
        assert_eq!(mounts[0].super_option("errors"), Some("continue"));
        assert_eq!(mounts[0].super_option("err"), None);
    }

    #[test]
    fn odd_lines() {
        let text = b"1 0 0:1 / /a\\040b rw - tmpfs none rw\n\
            broken line\n\
            2 1 8:1 / /no-separator rw ext4 /dev/sda1 rw\n\
            3 1 0:4 / /x rw - fuse.sshfs user@host: rw\n\
            4 1 0:5 / /y rw - cgroup2  rw\n";
        let mounts = parse(text);
        assert_eq!(mounts.iter().map(|m| m.id).collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(mounts[0].point, Path::new("/a b"));
        assert!(mounts[0].is_memory());
        assert_eq!(mounts[2].source, "");
    }

    #[test]
    fn the_deepest_and_last_mount_contains() {
        let text = b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
            2 1 8:2 / /home rw - ext4 /dev/sda2 rw\n\
            3 1 8:3 / /home rw - xfs /dev/sda3 rw\n";
        let mounts = parse(text);
        assert_eq!(containing(&mounts, Path::new("/homes/x")).map(|m| m.id), Some(1));
        assert_eq!(containing(&mounts, Path::new("/home/x")).map(|m| m.id), Some(3));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn near_lines_are_survived(text in "([0-9]{1,3} [0-9] [0-9]:[0-9] /[a\\\\04]{0,4} / rw( shared:1)?( -)?( ext4 /dev/x)?( rw)?\n){0,4}") {
            let _ = parse(text.as_bytes());
        }
    }
}
