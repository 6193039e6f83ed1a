//! File systems that are made in a directory to be measured: `--mkfs`.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use flashmark_core::units::{format_bytes, parse_bytes};
use flashmark_core::workload::{FileMode, Workload};
use flashmark_host::make_fs::{FsSpec, PrivateMounts, check};

use super::super::plan::{Plan, Seat};
use super::host;
use crate::args::RunArgs;
use crate::clean;

/// How records tell of the options; no suite key begins like this.
const MKFS: &str = "--mkfs=";
const IMAGE_SIZE: &str = "--image-size=";

/// What the images have if nothing is said.
pub const IMAGE_SIZE_DEFAULT: &str = "512MiB";

/// The file systems that are made in each directory, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Making {
    /// At least one, no two alike.
    pub specs: Vec<FsSpec>,
    /// The size of the image that each of them gets.
    pub image_bytes: u64,
}

impl Making {
    /// What the command line asks for; `None` if it is nothing.
    ///
    /// # Errors
    /// What is wrong with the list or the size.
    pub fn of_args(args: &RunArgs) -> anyhow::Result<Option<Self>> {
        Self::new(&args.mkfs, args.image_size.as_deref().unwrap_or(IMAGE_SIZE_DEFAULT))
    }

    /// Takes what a record has of it out of its settings.
    ///
    /// # Errors
    /// As [`Making::of_args`].
    pub fn take_from(pairs: &mut Vec<String>) -> anyhow::Result<Option<Self>> {
        let mut take = |prefix: &str| -> Vec<String> {
            let found = pairs.iter().filter_map(|pair| pair.strip_prefix(prefix).map(str::to_owned)).collect();
            pairs.retain(|pair| !pair.starts_with(prefix));
            found
        };
        let (lists, size) = (take(MKFS), take(IMAGE_SIZE));
        Self::new(&lists, size.first().map_or(IMAGE_SIZE_DEFAULT, String::as_str))
    }

    fn new(lists: &[String], image_size: &str) -> anyhow::Result<Option<Self>> {
        if lists.is_empty() {
            return Ok(None);
        }
        let mut specs: Vec<FsSpec> = Vec::new();
        for list in lists {
            for spec in FsSpec::list(list).map_err(|error| anyhow!("--mkfs {list}: {error}"))? {
                if specs.contains(&spec) {
                    bail!("--mkfs: {spec} is named twice: name each file system once");
                }
                specs.push(spec);
            }
        }
        let image_bytes = parse_bytes(image_size).map_err(|error| anyhow!("--image-size {image_size}: {error}"))?;
        // Whole pages, for loop devices and file systems alike.
        if image_bytes == 0 || !image_bytes.is_multiple_of(4096) {
            bail!("--image-size {image_size}: a multiple of 4096 bytes is expected, and more than none");
        }
        Ok(Some(Self { specs, image_bytes }))
    }

    /// As records keep it.
    pub fn pairs(&self) -> [String; 2] {
        let list: Vec<String> = self.specs.iter().map(ToString::to_string).collect();
        [format!("{MKFS}{}", list.join(",")), format!("{IMAGE_SIZE}{}", self.image_bytes)]
    }
}

/// A file system to be made in a directory.
pub struct Made {
    /// Where.
    pub dir: PathBuf,
    /// Which.
    pub spec: FsSpec,
    /// The size of its image.
    pub image_bytes: u64,
}

/// The targets that a directory stands for.
///
/// # Errors
/// A target that is no directory.
pub fn places(place: host::Place, making: &Making) -> anyhow::Result<Vec<super::Place>> {
    let dir = PathBuf::from(&place.name);
    if !dir.is_dir() {
        bail!("--mkfs makes file systems in directories, and {} is none: name a directory", dir.display());
    }
    let made = |spec: &FsSpec| {
        let made = Made { dir: dir.clone(), spec: spec.clone(), image_bytes: making.image_bytes };
        let name = format!("{}#{spec}", place.name);
        super::Place::Host(host::Place { name, access: place.access, made: Some(made) })
    };
    Ok(making.specs.iter().map(made).collect())
}

/// Looks whether every file system of the plan that is to be measured here can be made, and goes where nobody else sees
/// what is mounted. `None` if none is to be made. To be called before there are threads; nothing is made yet, but what an
/// earlier run left in the directories is removed.
///
/// # Errors
/// What is missing.
pub fn prepare(plan: &Plan, is_quiet: bool) -> anyhow::Result<Option<PrivateMounts>> {
    let own = plan.own().filter(|(_, seat)| !plan.is_done(seat));
    let made: Vec<(&Seat, &Made)> = own.filter_map(|(_, seat)| Some((seat, seat.place.made()?))).collect();
    if made.is_empty() {
        return Ok(None);
    }
    let mut swept: Vec<&Path> = Vec::new();
    for (seat, made) in made {
        if !swept.contains(&made.dir.as_path()) {
            clean::before_run(&made.dir, is_quiet);
            swept.push(&made.dir);
        }
        check(&made.dir, &made.spec, made.image_bytes)?;
        seat.workloads().iter().try_for_each(|workload| fits(workload, made))?;
    }
    Ok(Some(PrivateMounts::enter()?))
}

/// What cannot fit whatever the file system takes for itself is refused before anything is made.
fn fits(workload: &Workload, made: &Made) -> anyhow::Result<()> {
    let needed = workload.file_bytes.or(workload.size_bytes).unwrap_or(0);
    // A time limit makes a size that is written no more than a bound.
    let is_bound = workload.time_ns.is_some() && workload.file != FileMode::Existing;
    if needed >= made.image_bytes && !is_bound {
        bail!(
            "{}: its file has {}, and --image-size is {}: make the image larger, or size or file-size smaller",
            workload.name,
            format_bytes(needed),
            format_bytes(made.image_bytes)
        );
    }
    Ok(())
}
