//! Consent to destroy what is on a device or in a file.
//!
//! A [`Consent`] is made by [`ConsentArgs`] alone, and [`ConsentArgs`] by an argument parser alone. Every function that
//! overwrites something flashmark did not create takes a [`Consent`], so that no code path can forget to ask:
//!
//! ```compile_fail
//! // There is no other way to come by one.
//! use flashmark_host::{consent::Consent, device::Identity};
//! fn forge(identity: Identity) -> Consent {
//!     Consent { path: "/dev/sda".into(), identity }
//! }
//! ```
//!
//! ```compile_fail
//! let args = flashmark_host::consent::ConsentArgs::default();
//! ```

use std::path::{Path, PathBuf};

use crate::device::Identity;

/// The arguments that give consent; flatten them into a command's own.
#[derive(clap::Args, Debug)]
pub struct ConsentArgs {
    /// Allow flashmark to overwrite this device or file; everything on it is lost (repeatable)
    #[arg(long = "destroy", value_name = "DEVICE|FILE")]
    destroy: Vec<PathBuf>,
}

/// The user's word that one device or file may be overwritten.
///
/// It is for one thing only, known by its identity: a node that is replaced afterwards is not covered.
#[derive(Debug)]
pub struct Consent {
    path: PathBuf,
    identity: Identity,
}

impl ConsentArgs {
    /// The consent to overwrite `target`, if it was given: if one of the arguments leads to the same block device
    /// (device number) or regular file (device and inode), however both are spelled.
    ///
    /// Nothing else (a directory, a missing path) can be consented to.
    #[must_use]
    pub fn consent_to(&self, target: &Path) -> Option<Consent> {
        let identity = Identity::of_path(target).ok()??;
        let path = self.destroy.iter().find(|given| leads_to(given, &identity))?.clone();
        Some(Consent { path, identity })
    }

    /// Those of the arguments that are none of `targets`: most likely a mistake, and a dangerous one.
    #[must_use]
    pub fn unused<'a>(&'a self, targets: &[&Path]) -> Vec<&'a Path> {
        let identities: Vec<Identity> =
            targets.iter().filter_map(|target| Identity::of_path(target).ok().flatten()).collect();
        let named = |given: &Path| identities.iter().any(|identity| leads_to(given, identity));
        self.destroy.iter().map(PathBuf::as_path).filter(|given| !named(given)).collect()
    }
}

fn leads_to(given: &Path, identity: &Identity) -> bool {
    matches!(Identity::of_path(given), Ok(Some(given)) if given == *identity)
}

impl Consent {
    /// The device or file, as the user spelled it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the consent is for this very thing.
    #[must_use]
    pub fn covers(&self, identity: &Identity) -> bool {
        self.identity == *identity
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        consent: ConsentArgs,
    }

    fn args(destroy: &[&Path]) -> ConsentArgs {
        let mut line = vec!["flashmark".into()];
        for path in destroy {
            line.push("--destroy".into());
            line.push(path.as_os_str().to_owned());
        }
        Command::parse_from::<_, std::ffi::OsString>(line).consent
    }

    #[test]
    fn consent_is_by_identity() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("card.img");
        let other = dir.path().join("other.img");
        std::fs::write(&file, "same content").unwrap();
        std::fs::write(&other, "same content").unwrap();
        let roundabout = dir.path().join(".").join("card.img");

        let given = args(&[&roundabout]);
        assert_eq!(given.consent_to(&file).unwrap().path(), roundabout);
        assert!(given.consent_to(&other).is_none());
        assert!(args(&[]).consent_to(&file).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("card.img");
        std::fs::write(&file, "").unwrap();
        let (soft, hard) = (dir.path().join("soft"), dir.path().join("hard"));
        std::os::unix::fs::symlink(&file, &soft).unwrap();
        std::fs::hard_link(&file, &hard).unwrap();
        for given in [&soft, &hard] {
            assert!(args(&[given]).consent_to(&file).is_some(), "{given:?}");
            assert!(args(&[&file]).consent_to(given).is_some(), "{given:?}");
        }
    }

    #[test]
    fn directories_and_missing_paths_cannot_be_consented_to() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing");
        let given = args(&[dir.path(), &missing]);
        assert!(given.consent_to(dir.path()).is_none());
        assert!(given.consent_to(&missing).is_none());
        assert_eq!(given.unused(&[dir.path(), &missing]), [dir.path(), &missing]);
    }

    #[test]
    fn arguments_that_name_no_target_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("1"), dir.path().join("2"));
        std::fs::write(&first, "").unwrap();
        std::fs::write(&second, "").unwrap();
        let given = args(&[&first, &second]);
        assert_eq!(given.unused(&[&second]), [first.as_path()]);
        assert!(given.unused(&[&second, &first]).is_empty());
    }
}
