//! Why something is not written to.

use std::io;
use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::shell;
use super::usage::InUse;

/// Why a device or file is not written to. The message says the cause and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The command gives no consent.
    #[error(
        "{path} {findings}. Writing to it needs your consent, and all data on it will be lost; if that is what you want, add: --destroy {}",
        shell::quoted(.path),
        path = .path.display()
    )]
    NoConsent {
        /// The device or file.
        path: PathBuf,
        /// What it is and holds.
        findings: Box<Findings>,
    },
    /// The consent is for something else.
    #[error(
        "the consent is for {given}, and {path} is not that any more; check what both are, then start again",
        path = .path.display(), given = .given.display()
    )]
    OtherConsent {
        /// The device or file.
        path: PathBuf,
        /// What the consent was given for, as spelled.
        given: PathBuf,
    },
    /// It is in use.
    #[error("{path} will not be written to: {usage}", path = .path.display())]
    InUse {
        /// The device or file.
        path: PathBuf,
        /// What for, and which part of it.
        usage: Box<InUse>,
    },
    /// Nothing is there.
    #[error("{path} does not exist; check the spelling, and whether the medium is plugged in", path = .path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// It is no block device.
    #[error("{path} is {what}, not a block device; name the device's node, such as /dev/sdb or /dev/mmcblk0", path = .path.display())]
    NotBlockDevice {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// It is no regular file.
    #[error("{path} is {what}, not a regular file", path = .path.display())]
    NotRegularFile {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// It can't be written.
    #[error("{path} is read-only: {why}", path = .path.display())]
    ReadOnly {
        /// The device or file.
        path: PathBuf,
        /// What makes it so, and how to change it.
        why: &'static str,
    },
    /// It has no capacity.
    #[error(
        "{path} has no medium or no capacity (0 bytes): insert the card or disk, or attach a file to it if it is a loop \
         device (losetup)",
        path = .path.display()
    )]
    NoMedium {
        /// The device.
        path: PathBuf,
    },
    /// Missing rights.
    #[error("no right to open {path}: {remedy}", path = .path.display())]
    Denied {
        /// The device or file.
        path: PathBuf,
        /// How to get it.
        remedy: &'static str,
    },
    /// Another program has locked the file, or the disk.
    #[error("{path} is locked by another program, perhaps another flashmark, or udev looking at the disk; wait for it or stop it", path = .path.display())]
    Locked {
        /// The device or file.
        path: PathBuf,
    },
    /// Whether it is in use can't be found out.
    #[error(
        "cannot check whether {path} is in use ({why}); run as root, with /sys, /proc and /dev in sight, then start again",
        path = .path.display()
    )]
    Unchecked {
        /// The device or file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The system said no.
    #[error("cannot open {path}: {source}", path = .path.display())]
    Io {
        /// The device or file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// This operating system's devices are not known to flashmark.
    #[error("{path}: writing to devices and existing files is not supported on this operating system; name a directory", path = .path.display())]
    Unsupported {
        /// The device or file.
        path: PathBuf,
    },
}

impl Refusal {
    /// The device or file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::NoConsent { path, .. }
            | Self::OtherConsent { path, .. }
            | Self::InUse { path, .. }
            | Self::Missing { path }
            | Self::NotBlockDevice { path, .. }
            | Self::NotRegularFile { path, .. }
            | Self::ReadOnly { path, .. }
            | Self::NoMedium { path }
            | Self::Denied { path, .. }
            | Self::Locked { path }
            | Self::Unchecked { path, .. }
            | Self::Io { path, .. }
            | Self::Unsupported { path } => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::signature::{Partition, Signature};

    fn signature(what: &str, label: Option<&str>) -> Signature {
        Signature { name: "x", what: what.into(), label: label.map(Into::into), partitions: Vec::new() }
    }

    #[test]
    fn without_consent_the_message_says_what_would_be_lost() {
        let partition = Partition {
            index: 2,
            start_bytes: 1 << 20,
            size_bytes: 31_000_000_000,
            label: None,
            contents: vec![signature("ext4 file system", Some("rootfs"))],
        };
        let table = Signature { partitions: vec![partition], ..signature("MBR partition table", None) };
        let findings = Findings {
            model: Some("SC32G".into()),
            size_bytes: 31_914_983_424,
            contents: vec![table],
            ..Findings::default()
        };
        let refusal = Refusal::NoConsent { path: "/dev/my card's".into(), findings: Box::new(findings) };
        insta::assert_snapshot!(refusal, @r#"/dev/my card's (SC32G, 31.9 GB) holds: MBR partition table: partition 2 (31.0 GB, ext4 file system "rootfs"). Writing to it needs your consent, and all data on it will be lost; if that is what you want, add: --destroy '/dev/my card'\''s'"#);
        let blank = Findings { size_bytes: 1_000_000, unreadable: true, ..Findings::default() };
        let refusal = Refusal::NoConsent { path: "/dev/sdb".into(), findings: Box::new(blank) };
        insta::assert_snapshot!(refusal, @"/dev/sdb (1.0 MB) holds no partition table or file system that flashmark knows, but may hold data (parts of it can't be read; there may be more). Writing to it needs your consent, and all data on it will be lost; if that is what you want, add: --destroy /dev/sdb");
    }
}
