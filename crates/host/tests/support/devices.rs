//! Loop devices, mounts and swap areas that are undone when dropped, also on panic.

use std::fs::File;
use std::path::{Path, PathBuf};

use flashmark_host::consent::{Consent, ConsentArgs};

use super::{run, sh};

/// A file of zeros in a temporary directory.
pub struct Image {
    pub dir: tempfile::TempDir,
    pub path: PathBuf,
}

impl Image {
    pub fn new(mib: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("disk.img");
        File::create(&path).unwrap().set_len(mib << 20).unwrap();
        Self { dir, path }
    }

    /// Runs a command with the image as `$F`.
    pub fn sh(&self, command: &str) -> String {
        sh(&format!("F='{}'; {command}", self.path.display()))
    }

    pub fn attach(&self) -> Loop {
        self.attach_with("")
    }

    pub fn attach_with(&self, options: &str) -> Loop {
        Loop::of(&self.path, options)
    }
}

/// A loop device.
pub struct Loop {
    pub node: PathBuf,
}

impl Loop {
    pub fn of(backing: &Path, options: &str) -> Self {
        let node = sh(&format!("losetup {options} -f --show '{}'", backing.display()));
        Self { node: node.into() }
    }

    pub fn name(&self) -> &str {
        self.node.file_name().unwrap().to_str().unwrap()
    }

    /// Makes a table of two partitions and tells the kernel of them; it need not know the table's format itself.
    pub fn partition(&self) -> [PathBuf; 2] {
        let node = self.node.display();
        sh(&format!("printf 'label: gpt\\nsize=20M\\nsize=20M\\n' | sfdisk -q --no-reread --no-tell-kernel {node}"));
        sh(&format!("partx -a {node}"));
        [1, 2].map(|index| PathBuf::from(format!("{node}p{index}")))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run(&format!("partx -d {0}; losetup -d {0}", self.node.display()));
    }
}

/// A mounted file system.
pub struct Mounted {
    pub at: tempfile::TempDir,
}

impl Mounted {
    pub fn new(node: &Path) -> Self {
        let at = tempfile::tempdir().unwrap();
        sh(&format!("mount {} {}", node.display(), at.path().display()));
        Self { at }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run(&format!("umount {}", self.at.path().display()));
    }
}

/// A swap area in use.
pub struct Swapping {
    area: PathBuf,
}

impl Swapping {
    pub fn on(area: &Path) -> Self {
        sh(&format!("mkswap -q {0} && swapon {0}", area.display()));
        Self { area: area.into() }
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        run(&format!("swapoff {}", self.area.display()));
    }
}

/// The consent to overwrite `path`, given as a user gives it.
pub fn consent_to(path: &Path) -> Consent {
    consent_args(&[path]).consent_to(path).expect("the path exists")
}

/// The arguments `--destroy PATH` for each of `paths`.
pub fn consent_args(paths: &[&Path]) -> ConsentArgs {
    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        consent: ConsentArgs,
    }
    let destroy = paths.iter().flat_map(|path| ["--destroy".into(), path.as_os_str().to_owned()]);
    let command: Command = clap::Parser::parse_from(std::iter::once("flashmark".into()).chain(destroy));
    command.consent
}
