//! A lab target: one storage of a board, as the runner drives it.

mod fill;
mod habits;
mod operations;
mod raw;
mod wear;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use flashmark_chips::nor;
use flashmark_core::clock::Clock as _;
use flashmark_core::environment::{Device as DeviceInfo, Environment, FileSystem as FileSystemInfo};
use flashmark_core::ledger::{Account, Layer, Ledger, Spent};
use flashmark_core::runner::{Fit, fit};
use flashmark_core::simulation::{DeviceWork, Filled, PhaseTime, Simulation, Whole, layer_times};
use flashmark_core::target::{Contents, Fault, FaultKind};
use flashmark_core::workload::{Access, Direct, Erase, FileMode, Medium, Workload};
use flashmark_embedded_fs::FileId;

use crate::board::Board;
use crate::driver::FlashDriver;
use crate::storage::{self, AppBuffer, LabError, Parts, Store};

/// The file that workloads run on, as in ESP-IDF's benchmark.
const FILE: &str = "/test.bin";

/// One storage of a simulated board, from power-on.
pub struct LabTarget {
    ledger: Rc<Ledger>,
    driver: Rc<RefCell<Box<dyn FlashDriver>>>,
    app: Rc<AppBuffer>,
    /// Bytes of files' data that were programmed since power-on.
    data_bytes: Rc<Cell<u64>>,
    store: Store,
    habits: habits::Habits,
    label: String,
    environment: Environment,
    partition: std::ops::Range<u64>,
    vfs_call_ns: u64,
    code_call_ns: u64,
    open: Option<OpenFile>,
    /// The file's size when it was written last; the original removes the file between sizes.
    file_bytes: Option<u64>,
    contents: Contents,
    phases: Vec<PhaseTime>,
    fill: fill::Fill,
    erase: Erase,
    gauge: Gauge,
}

/// An open file of a file system.
#[derive(Clone, Copy, Debug)]
struct OpenFile {
    id: FileId,
    position: u64,
}

/// What is counted for a record.
#[derive(Debug, Default)]
struct Gauge {
    /// The runner is in a measured repeat.
    measuring: bool,
    /// Repeats of warm-up that are still to come.
    warm_up_left: u32,
    started_at_ns: u64,
    /// Readings at the start of the workload.
    spent_before: Spent,
    work_before: DeviceWork,
    /// Time and work of the measured repeats.
    spent: Spent,
    work: DeviceWork,
    /// The same of the repeat under way, and whether anything in it succeeded: the runner leaves out a repeat in which
    /// nothing did.
    repeat_spent: Spent,
    repeat_work: DeviceWork,
    repeat_counts: bool,
    /// Data written in measured calls, and data programmed in them.
    data_written_bytes: u64,
    data_programmed_bytes: u64,
    /// Bits that stayed 0 though they were written as 1, at the start of the workload.
    stuck_before: u64,
    read_bytes: u64,
    write_bytes: u64,
    /// The level that the file system was brought to for the workload.
    filled: Option<Filled>,
}

impl Gauge {
    /// A repeat has ended, or never began.
    fn end_repeat(&mut self) {
        if self.repeat_counts {
            self.spent.merge(&self.repeat_spent);
            self.work.add(&self.repeat_work);
        }
        (self.repeat_spent, self.repeat_work, self.repeat_counts) = (Spent::default(), DeviceWork::default(), false);
    }
}

impl std::fmt::Debug for LabTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LabTarget").field("label", &self.label).field("store", &self.store).finish_non_exhaustive()
    }
}

impl LabTarget {
    /// Puts the board together, powers it on and makes the storage ready: mounts it, and formats it where it does not
    /// mount. With an `image` the partition holds that, and must mount.
    ///
    /// # Errors
    /// [`LabError`].
    pub fn open(board: &Board, storage: &str, image: Option<&[u8]>) -> Result<Self, LabError> {
        let storage = board.storage(storage)?;
        let profile = board.checked_chip()?;
        let ledger = Rc::new(Ledger::new());
        let mut chip = nor::Chip::new(profile, board.count("board.seed")?)
            .map_err(|error| board.misfit("chip", error.to_string()))?;
        // Hardware does not say no to a program over zeros, and nor may a measurement of it.
        chip.set_overwrite(nor::Overwrite::Count);
        let (offset, size_bytes) = (board.bytes("partition.offset")?, board.bytes("partition.size")?);
        let start = format!("{storage}.start");
        if board.text_of(&start)? == "used" {
            chip.age(offset..offset + size_bytes, board.count("board.seed")?)
                .map_err(|violation| board.misfit(&start, violation.to_string()))?;
        }
        let mut driver = board.driver_entry()?.make(board, &ledger, chip)?;
        if let Some(image) = image {
            let image_bytes = image.len() as u64;
            if image_bytes != size_bytes {
                return Err(LabError::ImageSize { image_bytes, partition_bytes: size_bytes });
            }
            driver
                .chip_mut()
                .load(offset, image)
                .map_err(|violation| LabError::Image { storage: storage.to_owned(), reason: violation.to_string() })?;
        }
        let driver = Rc::new(RefCell::new(driver));
        let app = Rc::new(AppBuffer::default());
        let data_bytes = Rc::new(Cell::new(0));
        let parts = Parts {
            board,
            ledger: &ledger,
            driver: &driver,
            app: &app,
            data_bytes: &data_bytes,
            keep: image.is_some(),
        };
        let (store, phases) = parts.ready(storage)?;
        let mut environment = environment(board, storage, driver.borrow().chip().profile(), size_bytes)?;
        if let Some(file_system) = environment.file_system.as_mut().filter(|_| image.is_some()) {
            // The image was made with options of its own, of which a file system finds some in it and needs to be told others.
            let told = file_system.options.take().unwrap_or_default();
            file_system.options = Some(format!("as in the image, and where it does not say: {told}"));
        }
        Ok(Self {
            label: storage::label(storage),
            environment,
            partition: offset..offset + size_bytes,
            vfs_call_ns: board.work_ps("code.vfs-call")? / 1000,
            code_call_ns: storage::Costs::of(board, storage)?.call_ps / 1000,
            open: None,
            file_bytes: None,
            contents: Contents::default(),
            phases,
            fill: fill::Fill::default(),
            erase: Erase::Inside,
            gauge: Gauge::default(),
            data_bytes,
            ledger,
            driver,
            app,
            store,
            habits: habits::Habits::of(board),
        })
    }

    /// The board's time.
    #[must_use]
    pub fn clock(&self) -> Rc<Ledger> {
        Rc::clone(&self.ledger)
    }

    /// How an original's rows call the storage, e.g. `SPI FATFS`.
    #[must_use]
    pub fn label(&self) -> String {
        self.label.clone()
    }

    /// What it shows of its storage.
    #[must_use]
    pub const fn access(&self) -> Access {
        match self.store {
            Store::Raw(_) => Access::Raw,
            Store::Files(_) => Access::Files,
        }
    }

    /// Its medium.
    #[must_use]
    pub const fn medium(&self) -> Medium {
        Medium::Nor
    }

    /// The board, its chip and its file system.
    #[must_use]
    pub const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether the workload can run here.
    ///
    /// # Errors
    /// The [`Fault`] that running it would meet.
    pub fn check(&mut self, workload: &Workload) -> Result<Fit, Fault> {
        let unsupported = |message: &str| Err(Fault::new(FaultKind::Unsupported, message));
        if workload.queue_depth > 1 {
            return unsupported("a lab target runs one operation at a time: queue-depth = 1");
        }
        if workload.direct == Direct::Required {
            return unsupported("a lab target has no cache of an operating system to pass by: direct = \"auto\"");
        }
        if workload.engine != "sync" {
            return unsupported("a lab target has no engines to choose from: engine = \"sync\"");
        }
        let partition_bytes = self.partition.end - self.partition.start;
        let wanted = workload.file_bytes.or(workload.size_bytes).unwrap_or(0).max(u64::from(workload.block_bytes));
        if matches!(self.store, Store::Files(_)) && wanted > partition_bytes {
            return Err(Fault::new(
                FaultKind::Unsupported,
                format!(
                    "a file of {wanted} bytes is larger than the storage partition of {partition_bytes} bytes: make \
                     file-size, size or block smaller, or partition.size larger (on a larger chip)"
                ),
            ));
        }
        if let Store::Raw(device) = &self.store {
            raw::check(workload, device.geometry().erase_bytes)?;
        }
        fit(workload, self)
    }

    /// Gets ready for a workload, before the runner starts it.
    pub fn begin(&mut self, workload: &Workload) {
        self.erase = workload.erase;
        self.gauge = Gauge {
            warm_up_left: workload.warm_up,
            started_at_ns: self.ledger.now_ns(),
            spent_before: self.ledger.spent(),
            work_before: self.device_work(),
            stuck_before: self.stuck_bits(),
            ..Gauge::default()
        };
        let new_bytes = workload.size_bytes.or(workload.file_bytes);
        if workload.file == FileMode::New && self.file_bytes.is_some() && self.file_bytes != new_bytes {
            self.remove_file();
        }
    }

    /// Virtual time since power-on at which the workload began.
    #[must_use]
    pub const fn started_at_ns(&self) -> u64 {
        self.gauge.started_at_ns
    }

    /// What the record of the workload that has just run says of the simulation.
    pub fn simulation(&mut self) -> Simulation {
        self.gauge.end_repeat();
        let whole = self.ledger.spent().since(&self.gauge.spent_before);
        Simulation {
            spent: layer_times(&self.gauge.spent),
            device: self.gauge.work,
            whole: Whole {
                elapsed_ns: whole.total_ns(),
                spent: layer_times(&whole),
                device: self.device_work().since(&self.gauge.work_before),
                read_bytes: self.gauge.read_bytes,
                write_bytes: self.gauge.write_bytes,
            },
            phases: std::mem::take(&mut self.phases),
            filled: self.gauge.filled,
            wear: Some(wear::of(self.driver.borrow().chip(), &self.partition)),
        }
    }

    /// The partition's content, as it is on the flash.
    ///
    /// # Errors
    /// None that a built board can meet; a [`Fault`] all the same.
    pub fn image(&self) -> Result<Vec<u8>, Fault> {
        let driver = self.driver.borrow();
        driver.chip().dump(self.partition.clone()).map_err(|violation| Fault::new(FaultKind::Io, violation.to_string()))
    }

    fn device_work(&self) -> DeviceWork {
        let driver = self.driver.borrow();
        let counters = driver.chip().counters();
        DeviceWork {
            reads: counters.reads,
            read_bytes: counters.read_bytes,
            programs: counters.programs,
            program_bytes: counters.program_bytes,
            erases: counters.erases,
            erase_bytes: counters.erase_bytes,
        }
    }

    /// Whether most of the data that was written in the measured time was programmed in it, and not kept in buffers.
    const fn is_programmed(&self) -> bool {
        self.gauge.data_programmed_bytes >= self.gauge.data_written_bytes / 2 + self.gauge.data_written_bytes % 2
    }

    fn stuck_bits(&self) -> u64 {
        self.driver.borrow().chip().counters().stuck_bits
    }

    /// Runs one call of the runner, and books it if it is measured.
    fn call<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        if !self.gauge.measuring {
            return work(self);
        }
        let (spent, done, programmed) = (self.ledger.spent(), self.device_work(), self.data_bytes.get());
        let result = work(self);
        self.gauge.data_programmed_bytes += self.data_bytes.get() - programmed;
        self.gauge.repeat_spent.merge(&self.ledger.spent().since(&spent));
        self.gauge.repeat_work.add(&self.device_work().since(&done));
        result
    }

    /// A call through the virtual file system into the file system's code.
    fn enter_file_system(&self) {
        self.ledger.spend_for(Layer::Runtime, Account::Cpu, self.vfs_call_ns);
        self.ledger.spend_for(Layer::Metadata, Account::Cpu, self.code_call_ns);
    }
}

fn environment(
    board: &Board,
    storage: &str,
    chip: &nor::Profile,
    partition_bytes: u64,
) -> Result<Environment, LabError> {
    let clock_mhz = board.hz("cpu.clock")? / 1_000_000;
    let bus_mhz = board.hz("bus.clock")? / 1_000_000;
    let options: Vec<String> =
        board.section(storage).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let file_system = (storage != storage::RAW).then(|| FileSystemInfo {
        kind: storage.to_owned(),
        options: Some(options.join(",")),
        size_bytes: Some(partition_bytes),
        ..FileSystemInfo::default()
    });
    Ok(Environment {
        system: Some(board.about().to_owned()),
        cpu_model: Some(format!("{} at {clock_mhz} MHz", board.name())),
        file_system,
        device: Some(DeviceInfo {
            name: format!("{} at {bus_mhz} MHz", board.text_of("bus.mode")?.to_uppercase()),
            model: Some(format!("{} {}", chip.manufacturer, chip.name)),
            size_bytes: Some(chip.capacity_bytes),
            ..DeviceInfo::default()
        }),
        ..Environment::default()
    })
}
