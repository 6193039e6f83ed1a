//! What a run consists of: a list of steps, each a workload on a target.

use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};
use flashmark_core::record::{Record, RunInfo, Status};
use flashmark_core::runner::Fit;
use flashmark_core::workload::{Access, Medium, Verify, Workload};
use flashmark_host::test_file::random_id;
use flashmark_lab::Board;
use flashmark_suite::digest;

use super::asked::{Asked, Variants, too_many};
use super::iolog::IologFile;
use super::place::{Place, places};
use super::shard::Shard;
use super::sweep::TARGETS_MAX;
use super::tries::Work;

/// Every target with the workloads that are for it, in order: all of them on the first target, then on the next.
pub struct Plan {
    /// The run's description, with index 0.
    pub info: RunInfo,
    /// What was asked for.
    pub asked: Asked,
    /// The whole run.
    pub seats: Vec<Seat>,
    /// Which seats are run here.
    pub part: Range<usize>,
    /// Complete records that an earlier part of the run made, by their place.
    pub done: BTreeMap<u32, Record>,
    /// Records of what it left out (refused, or the target was gone), by their place.
    pub left_out: BTreeMap<u32, Record>,
    /// What the only simulated storage holds at the start.
    pub image: Option<Vec<u8>>,
    /// What is not run, and why: for the user.
    pub passed_over: Vec<String>,
    /// Where what is issued is recorded, if it is.
    pub iolog: Option<IologFile>,
}

/// A target and what runs on it. A simulated board is made for one seat and thrown away after it.
pub struct Seat {
    /// The target.
    pub place: Place,
    /// What runs on it; not empty.
    work: Work,
    /// The place of the first of them in the run.
    pub first: u32,
}

impl Seat {
    /// As records name the target.
    pub fn name(&self) -> &str {
        self.place.name()
    }

    /// What runs on it, in order; not empty.
    pub fn workloads(&self) -> &[Workload] {
        &self.work.workloads
    }

    /// Each workload with its place in the run.
    pub fn steps(&self) -> impl Iterator<Item = (u32, &Workload)> {
        (self.first..).zip(self.workloads())
    }

    /// How often the suite repeats the workload at a place of the run, if the target's board repeats it less often.
    pub fn cut_from(&self, index: u32) -> Option<u32> {
        self.work.cut_from(index.checked_sub(self.first)? as usize)
    }

    /// Whether any of the workloads needs what is on the target to be overwritten: to write, or to lay out what it reads
    /// and checks.
    pub fn needs_consent(&self) -> bool {
        self.workloads().iter().any(|workload| workload.writes() || workload.verify != Verify::None)
    }
}

impl Plan {
    /// The plan of what was asked for.
    ///
    /// # Errors
    /// Whatever is wrong with the suite, a setting, a target or the image.
    pub fn new(asked: Asked, shard: Option<Shard>) -> anyhow::Result<Self> {
        let variants = asked.variants()?;
        let image = asked.image.as_deref().map(read_image).transpose()?;
        let mut seats = Seats::new(&variants);
        for name in &asked.targets {
            seats.add(name, &asked)?;
        }
        let Seats { seats, passed_over, .. } = seats;
        let total = seats.last().map_or(0, |last| last.first as usize + last.workloads().len());
        let total = u32::try_from(total).map_err(|_| anyhow!("too many workloads"))?;
        let lab_count = seats.iter().filter(|seat| seat.place.is_lab()).count();
        if let Some(path) = asked.image.as_ref().filter(|_| lab_count != 1) {
            bail!(
                "--image {} is what one simulated storage holds at the start, and this run has {lab_count} of them: name \
                 one (lab:esp32/fatfs)",
                path.display()
            );
        }
        let plan = digest(&variants.workloads.concat(), &identities(&seats, image.as_deref())?);
        // A run in the lab is always the same, and the parts of a run cannot agree on a number of their own.
        let is_fixed = lab_count == seats.len() || shard.is_some();
        let info = RunInfo {
            id: if is_fixed { plan.clone() } else { format!("{:016x}", random_id()) },
            suite: variants.suite.name().to_owned(),
            suite_source: variants.suite.source.to_string(),
            form: asked.form,
            settings: asked.pairs.clone(),
            only: asked.only.clone(),
            plan,
            targets: asked.targets.clone(),
            index: 0,
            total,
            original: variants.suite.original().map(str::to_owned),
        };
        let part = shard.map_or(0..seats.len(), |shard| shard.of(seats.len()));
        Ok(Self {
            info,
            asked,
            seats,
            part,
            done: BTreeMap::new(),
            left_out: BTreeMap::new(),
            image,
            passed_over,
            iolog: None,
        })
    }

    /// The plan of the run that these records are of.
    ///
    /// # Errors
    /// As [`Plan::new`]; records that are not of one run, or of a suite or a board that has changed.
    pub fn of_records(records: Vec<Record>, shard: Option<Shard>) -> anyhow::Result<Self> {
        let Some(last) = records.last() else {
            bail!("it holds no whole record, so nothing tells what ran: start the run again with -o");
        };
        let info = last.run.clone();
        let mut plan = Self::new(Asked::of_info(&info)?, shard)?;
        if plan.info.plan != info.plan {
            let boards = if plan.has_lab() { ", or a simulated board," } else { "" };
            bail!(
                "suite {} ({}){boards} has changed since the run began, so that old and new records would not be of one \
                 run: start again with -o",
                info.suite,
                info.suite_source
            );
        }
        plan.info.id = info.id;
        plan.is_of_part(&records)?;
        for record in records.into_iter().filter(|record| record.run.id == plan.info.id) {
            let index = record.run.index;
            let step = plan.step(index).filter(|(_, workload)| **workload == record.workload);
            let Some((seat, _)) = step.filter(|_| record.run.plan == info.plan) else {
                bail!("its record {index} is not of the run that its last line is of: it was edited");
            };
            let places = match record.outcome.status {
                Status::Done => &mut plan.done,
                // What a simulated board does once it does again.
                Status::Failed | Status::Skipped if seat.place.is_lab() => &mut plan.done,
                Status::Skipped => &mut plan.left_out,
                Status::Failed | Status::Interrupted => continue,
            };
            places.insert(index, record);
        }
        Ok(plan)
    }

    /// Whether these records are of the part of the run that is run here, as far as they tell.
    fn is_of_part(&self, records: &[Record]) -> anyhow::Result<()> {
        let mut ours = records.iter().filter(|record| record.run.id == self.info.id).map(|record| record.run.index);
        if self.part.len() == self.seats.len() {
            if let Some(first) = ours.next().filter(|first| *first > 0) {
                bail!(
                    "it begins with record {first} of the run, so that it is the file of a part: give --shard K/N again"
                );
            }
            return Ok(());
        }
        let mut own = self.own().map(|(_, seat)| seat);
        let first = own.next().map_or(0, |seat| seat.first);
        let end = own.last().or_else(|| self.own().next().map(|(_, seat)| seat));
        let end = end.map_or(first, |seat| seat.first + seat.workloads().len() as u32);
        if let Some(other) = ours.find(|index| !(first..end).contains(index)) {
            bail!(
                "its record {other} is of another part of the run than this --shard: give the one that it was begun with"
            );
        }
        Ok(())
    }

    /// The seats that are run here, with their numbers.
    pub fn own(&self) -> impl Iterator<Item = (usize, &Seat)> {
        self.part.clone().zip(self.seats.get(self.part.clone()).unwrap_or_default())
    }

    /// What is at a place of the run.
    fn step(&self, index: u32) -> Option<(&Seat, &Workload)> {
        let after = self.seats.partition_point(|seat| seat.first <= index);
        let seat = self.seats.get(after.checked_sub(1)?)?;
        Some((seat, seat.workloads().get((index - seat.first) as usize)?))
    }

    /// Whether any target is simulated.
    pub fn has_lab(&self) -> bool {
        self.seats.iter().any(|seat| seat.place.is_lab())
    }

    /// Whether nothing of a seat is left to be run.
    pub fn is_done(&self, seat: &Seat) -> bool {
        seat.steps().all(|(index, _)| self.done.contains_key(&index))
    }

    /// The targets of this machine that were there before.
    pub fn host_paths(&self) -> Vec<PathBuf> {
        self.own()
            .filter(|(_, seat)| !seat.place.is_lab() && seat.place.made().is_none())
            .map(|(_, seat)| PathBuf::from(seat.name()))
            .collect()
    }

    /// A record that an earlier part of the run made on this seat.
    pub fn earlier_on(&self, seat: &Seat) -> Option<&Record> {
        let end = seat.first + seat.workloads().len() as u32;
        self.done.range(seat.first..end).chain(self.left_out.range(seat.first..end)).next().map(|(_, record)| record)
    }

    /// A suite's size is cut down to that of a smaller file or device; one that the user asked for is not.
    ///
    /// # Errors
    /// What the target has, and what was asked for.
    pub fn fits(&self, name: &str, fit: Fit) -> anyhow::Result<()> {
        if let Some(wanted) = fit.cut_from.filter(|_| self.asked.sets("size") || self.asked.sets("file-size")) {
            bail!(
                "{name} has {} bytes, less than the {wanted} asked for: make size or file-size smaller, or give \
                 --file-size all",
                fit.region_bytes
            );
        }
        Ok(())
    }

    /// The description of the run for the record at a place of it.
    pub fn info_at(&self, index: u32) -> RunInfo {
        RunInfo { index, ..self.info.clone() }
    }
}

/// What the digest of a run knows its targets by.
fn identities(seats: &[Seat], image: Option<&[u8]>) -> anyhow::Result<Vec<String>> {
    let mut identities: Vec<String> = Vec::new();
    for seat in seats {
        // Variants of the suite have a seat each on the same simulated board.
        if !seat.place.is_lab() || identities.last().is_none_or(|last| last != seat.name()) {
            identities.push(seat.name().to_owned());
        }
    }
    // Seats of one board stand together.
    let mut last: Option<&Arc<Board>> = None;
    let mut chips = HashSet::new();
    for seat in seats {
        let Place::Lab(place) = &seat.place else { continue };
        if last.is_none_or(|last| !Arc::ptr_eq(last, place.base())) {
            identities.push(place.base().identity()?);
            last = Some(place.base());
            chips.clear();
        }
        if let Some(chip) = place.swept_chip()
            && chips.insert(chip)
        {
            let mut board = (**place.base()).clone();
            board.set("chip", chip)?;
            identities.push(board.identity()?);
        }
    }
    identities.extend(image.map(|image| format!("image {:016x}", fingerprint(image))));
    Ok(identities)
}

/// FNV-1a.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The largest image that is read: the largest NOR flash is smaller.
const IMAGE_BYTES_MAX: u64 = 1 << 30;

fn read_image(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = path.display();
    // Not as the cause of an error: an input that cannot be read is a mistake of the command line.
    let unreadable = |error: std::io::Error| anyhow!("--image {name}: {error}");
    // What is no regular file tells no length, and may have no end.
    let mut image = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        bail!("--image {name} is no regular file");
    }
    file.take(IMAGE_BYTES_MAX + 1).read_to_end(&mut image).map_err(unreadable)?;
    if image.len() as u64 > IMAGE_BYTES_MAX {
        bail!(
            "--image {name} has more than {IMAGE_BYTES_MAX} bytes, and so have no partitions that are simulated here"
        );
    }
    Ok(image)
}

/// Seats as they are made.
struct Seats<'v> {
    filtered: Filter<'v>,
    seats: Vec<Seat>,
    names: HashSet<String>,
    passed_over: Vec<String>,
}

impl<'v> Seats<'v> {
    fn new(variants: &'v Variants) -> Self {
        let filtered = Filter { variants, known: Vec::new() };
        Self { filtered, seats: Vec::new(), names: HashSet::new(), passed_over: Vec::new() }
    }

    fn add(&mut self, name: &str, asked: &Asked) -> anyhow::Result<()> {
        let suite = self.filtered.variants.suite.name();
        let found = places(name, asked)?;
        let before = self.seats.len();
        let mut unfit = Vec::new();
        for place in found.places {
            let (access, medium) = place.shows();
            if place.is_lab() && !self.names.insert(place.name().to_owned()) {
                bail!("{} is named twice: name each target once", place.name());
            }
            let most = match &place {
                Place::Lab(place) => place.tries(&self.filtered.variants.suite)?,
                Place::Host(_) => None,
            };
            let mut variants = self.filtered.of(access, medium, most);
            variants.retain(|work| !work.workloads.is_empty());
            if variants.is_empty() {
                unfit.push((place.name().to_owned(), shown(access, medium)));
            } else if let Place::Lab(place) = place {
                for work in variants {
                    self.push(Place::Lab(Arc::clone(&place)), work)?;
                }
            } else {
                // A path is opened once.
                self.push(place, Work::concat(&variants))?;
            }
        }
        let nothing = |name: &str, shown: &str| {
            format!(
                "no workload of suite {suite} that was chosen is for {name}, which is {shown}: leave it out, or choose \
                 another suite (flashmark suites lists them)"
            )
        };
        match unfit.first() {
            Some((name, shown)) if !found.is_expanded || self.seats.len() == before => bail!(nothing(name, shown)),
            _ => {}
        }
        self.passed_over.extend(unfit.iter().map(|(name, shown)| {
            format!("{name} is passed over: it is {shown}, and no workload of suite {suite} that was chosen is for it")
        }));
        Ok(())
    }

    fn push(&mut self, place: Place, work: Work) -> anyhow::Result<()> {
        let first = self.seats.last().map_or(Some(0), |last| last.first.checked_add(last.workloads().len() as u32));
        let first = first.ok_or_else(|| anyhow!("too many workloads"))?;
        self.seats.push(Seat { place, work, first });
        if self.seats.len() > TARGETS_MAX {
            bail!(too_many(self.seats.len() as u128));
        }
        Ok(())
    }
}

/// The workloads of each variant that are for a kind of target; made once for each kind.
struct Filter<'v> {
    variants: &'v Variants,
    known: Vec<(Kind, Vec<Work>)>,
}

/// What of a target decides which workloads run on it, and how often at most.
type Kind = (Access, Medium, Option<NonZeroU32>);

impl Filter<'_> {
    fn of(&mut self, access: Access, medium: Medium, most: Option<NonZeroU32>) -> Vec<Work> {
        let kind = (access, medium, most);
        if let Some((_, known)) = self.known.iter().find(|(known, _)| *known == kind) {
            return known.clone();
        }
        let fitting = |all: &Vec<Workload>| all.iter().filter(|w| w.is_for(access, medium)).cloned().collect();
        let work: Vec<Work> = self.variants.workloads.iter().map(|all| Work::at_most(fitting(all), most)).collect();
        self.known.push((kind, work.clone()));
        work
    }
}

/// What a target is, as far as workloads make a difference.
fn shown(access: Access, medium: Medium) -> String {
    let access = match access {
        Access::Files => "a file",
        Access::Raw => "a storage without a file system",
        Access::Any => "a storage",
    };
    let medium = match medium {
        Medium::Nor => " on NOR flash",
        Medium::NotNor | Medium::Any => "",
    };
    format!("{access}{medium}")
}
