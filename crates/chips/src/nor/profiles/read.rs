//! A profile's text -> the profile and its facts.

use core::ops::Range;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use toml::Spanned;

use super::quantity::{CLOCK, COUNT, Choice, Dimension, Number, Quantity, SHARE, SIZE, Span, TIME, source};
use super::{Fact, ProfileFile, file};
use crate::nor::profile::{
    ContinuousRead, EraseType, Latencies, Profile, ProgramTiming, QuadEnable, QuadProgram, ReadKind, ReadMode,
    SfdpSource, SuspendOpcodes,
};

/// What is wrong, and where in the text.
#[derive(Debug)]
pub(super) struct Fault {
    pub at: usize,
    pub reason: String,
}

impl Fault {
    pub fn at(span: Range<usize>, reason: String) -> Self {
        Self { at: span.start, reason }
    }
}

/// Collects the facts, and remembers where each key stands.
struct Reader<'t> {
    text: &'t str,
    facts: Vec<Fact>,
    places: Vec<(String, usize)>,
    /// Where the table that is being read stands.
    table: usize,
}

/// Reads a whole file.
pub(super) fn read(text: &str) -> Result<ProfileFile, Fault> {
    let file: file::File = toml::from_str(text).map_err(|error| Fault {
        at: error.span().map_or(0, |span| span.start),
        reason: error.message().to_string(),
    })?;
    let mut reader = Reader { text, facts: Vec::new(), places: Vec::new(), table: 0 };
    let profile = reader.profile(&file)?;
    profile.check().map_err(|error| Fault { at: reader.place(error.key()), reason: error.to_string() })?;
    Ok(ProfileFile { profile, facts: reader.facts })
}

/// What a dump tells, for display.
pub(super) fn told_by_dump(profile: &Profile, source: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut tell = |key: &str, value: String| {
        facts.push(Fact { key: key.to_string(), value, source: format!("SFDP: {source}") });
    };
    tell("chip.capacity", format!("{} B", profile.capacity_bytes));
    tell("chip.page", format!("{} B", profile.page_bytes));
    tell("program.first_byte", format!("{} ns", profile.program.first_byte_ns));
    tell("program.next_byte", format!("{} ns", profile.program.next_byte_ns));
    let (typical, max) = (profile.program.page_typical_ns, profile.program.page_max_ns);
    tell("program.page", format!("{typical} ns, at most {max} ns"));
    for erase in &profile.erase_types {
        let (typical, max) = (erase.typical_ns, erase.max_ns);
        tell(&format!("erase.{}", erase.bytes), format!("{typical} ns, at most {max} ns"));
    }
    let (typical, max) = (profile.chip_erase_typical_ns, profile.chip_erase_max_ns);
    tell("chip_erase", format!("{typical} ns, at most {max} ns"));
    facts
}

impl Reader<'_> {
    fn profile(&mut self, file: &file::File) -> Result<Profile, Fault> {
        let (sfdp, base) = self.sfdp(file)?;
        let chip = file.chip.get_ref();
        self.table = file.chip.span().start;
        let base = base.as_ref();
        let quad_enable = self.choice("chip.quad_enable", &chip.quad_enable, quad_enable)?;
        let continuous = self.choice("chip.continuous_read", &chip.continuous_read, continuous_read)?;
        let capacity_bytes =
            self.number("chip.capacity", SIZE, &chip.capacity, base.map(|base| base.capacity_bytes))?;
        let jedec_id = self.jedec_id(chip, base)?;
        let mut profile = Profile {
            name: chip.name.clone(),
            manufacturer: chip.manufacturer.clone(),
            jedec_id,
            electronic_id: self
                .choice("chip.electronic_id", &chip.electronic_id, |id| id)?
                .unwrap_or_else(|| jedec_id[2].wrapping_sub(1)),
            capacity_bytes,
            page_bytes: self.number("chip.page", SIZE, &chip.page, base.map(|base| base.page_bytes))?,
            endurance_cycles: self.number(
                "chip.endurance",
                COUNT,
                &chip.endurance,
                base.map(|base| base.endurance_cycles),
            )?,
            clock_max_hz: self.number("chip.clock_max", CLOCK, &chip.clock_max, base.map(|base| base.clock_max_hz))?,
            status_registers: self.number(
                "chip.status_registers",
                COUNT,
                &chip.status_registers,
                base.map(|base| base.status_registers),
            )?,
            quad_enable: quad_enable.or(base.map(|base| base.quad_enable)).unwrap_or(QuadEnable::None),
            quad_enabled: self.choice("chip.quad_enabled", &chip.quad_enabled, |set| set)?.unwrap_or(false),
            continuous_read: continuous.unwrap_or(ContinuousRead::None),
            four_byte_address: self
                .choice("chip.four_byte_address", &chip.four_byte_address, |set| set)?
                .or(base.map(|base| base.four_byte_address))
                .unwrap_or(false),
            unique_id: self.choice("chip.unique_id", &chip.unique_id, |set| set)?.unwrap_or(false),
            software_reset: self
                .choice("chip.software_reset", &chip.software_reset, |set| set)?
                .or(base.map(|base| base.software_reset))
                .unwrap_or(false),
            program: self.program(file, base)?,
            erase_types: self.erase_types(file, base)?,
            chip_erase_typical_ns: 0,
            chip_erase_max_ns: 0,
            blank_erase_ns: None,
            erase_spread_permille: 0,
            erase_wear_permille: 0,
            latencies: self.latencies(file, base)?,
            reads: self.reads(file, base)?,
            quad_program: self.quad_program(file, base)?,
            suspend: self.suspend(file, base)?,
            sfdp,
        };
        self.erase_times(file, base, &mut profile)?;
        Ok(profile)
    }

    fn sfdp(&mut self, file: &file::File) -> Result<(SfdpSource, Option<Profile>), Fault> {
        let Some(sfdp) = &file.sfdp else { return Ok((SfdpSource::Generated, None)) };
        self.table = sfdp.span().start;
        let table = sfdp.get_ref();
        let source = source(&table.source)?;
        match (&table.dump, table.absent) {
            (Some(dump), None) => {
                let bytes = hex(dump.get_ref()).map_err(|reason| Fault::at(dump.span(), reason))?;
                let profile = Profile::from_sfdp(&file.chip.get_ref().name, &bytes);
                let profile = profile.map_err(|error| Fault::at(dump.span(), error.to_string()))?;
                self.facts.extend(told_by_dump(&profile, &source));
                Ok((SfdpSource::Dump(bytes), Some(profile)))
            }
            (None, Some(true)) => {
                self.fact("sfdp", "absent".to_string(), source);
                Ok((SfdpSource::Absent, None))
            }
            _ => Err(Fault::at(sfdp.span(), "[sfdp] takes either a dump or absent = true".to_string())),
        }
    }

    fn jedec_id(&mut self, chip: &file::Chip, base: Option<&Profile>) -> Result<[u8; 3], Fault> {
        let Some(choice) = &chip.jedec_id else {
            return base.map(|base| base.jedec_id).ok_or_else(|| self.missing("chip.jedec_id"));
        };
        self.place_of("chip.jedec_id", choice.value.span());
        let text = choice.value.get_ref();
        self.fact("chip.jedec_id", text.clone(), source(&choice.source)?);
        let bytes = hex(text).map_err(|reason| Fault::at(choice.value.span(), reason))?;
        let three = || Fault::at(choice.value.span(), format!("a JEDEC id has 3 bytes, not {}", bytes.len()));
        bytes.as_slice().try_into().map_err(|_| three())
    }

    fn program(&mut self, file: &file::File, base: Option<&Profile>) -> Result<ProgramTiming, Fault> {
        let base = base.map(|base| base.program);
        let Some(table) = &file.program else { return base.ok_or_else(|| self.missing("program")) };
        self.table = table.span().start;
        let table = table.get_ref();
        let page = base.map(|base| (base.page_typical_ns, base.page_max_ns));
        let (page_typical_ns, page_max_ns) = self.span("program.page", table.page.as_ref(), page)?;
        Ok(ProgramTiming {
            first_byte_ns: self.number(
                "program.first_byte",
                TIME,
                &table.first_byte,
                base.map(|base| base.first_byte_ns),
            )?,
            next_byte_ns: self.number(
                "program.next_byte",
                TIME,
                &table.next_byte,
                base.map(|base| base.next_byte_ns),
            )?,
            page_typical_ns,
            page_max_ns,
            unchanged_permille: self.number(
                "program.unchanged",
                SHARE,
                &table.unchanged,
                base.map(|base| base.unchanged_permille),
            )?,
        })
    }

    fn erase_types(&mut self, file: &file::File, base: Option<&Profile>) -> Result<Vec<EraseType>, Fault> {
        if file.erase.is_empty() {
            self.table = 0;
            return base.map(|base| base.erase_types.clone()).ok_or_else(|| self.missing("[[erase]]"));
        }
        let mut types = Vec::new();
        for (index, table) in file.erase.iter().enumerate() {
            self.table = table.span().start;
            let erase = table.get_ref();
            let size_key = format!("erase[{index}].size");
            let bytes = self.quantity(&size_key, SIZE, &erase.size)?;
            self.place_of("erase.size", erase.size.value.span());
            let (typical_ns, max_ns) = self.span(&format!("erase[{index}].time"), Some(&erase.time), None)?;
            self.place_of("erase", erase.time.typical.span());
            let (opcode, address4_opcode) = (erase.opcode, erase.address4_opcode);
            types.push(EraseType { opcode, address4_opcode, bytes, typical_ns, max_ns });
            // What is impossible is told where it stands, so each type is looked at by itself.
            if max_ns < typical_ns || typical_ns == 0 {
                let reason = format!("the maximum of {max_ns} ns is under the typical {typical_ns} ns, or that is 0");
                return Err(Fault::at(erase.time.typical.span(), reason));
            }
            if !bytes.is_power_of_two() {
                return Err(Fault::at(erase.size.value.span(), format!("{bytes} bytes are not a power of two")));
            }
        }
        Ok(types)
    }

    fn erase_times(&mut self, file: &file::File, base: Option<&Profile>, profile: &mut Profile) -> Result<(), Fault> {
        let chip_erase = base.map(|base| (base.chip_erase_typical_ns, base.chip_erase_max_ns));
        self.table = file.chip_erase.as_ref().map_or(0, |table| table.span().start);
        let table = file.chip_erase.as_ref().map(Spanned::get_ref);
        (profile.chip_erase_typical_ns, profile.chip_erase_max_ns) = self.span("chip_erase", table, chip_erase)?;
        let Some(model) = &file.erase_model else {
            profile.erase_spread_permille =
                base.map(|base| base.erase_spread_permille).ok_or_else(|| self.missing("erase_model"))?;
            return Ok(());
        };
        self.table = model.span().start;
        let model = model.get_ref();
        if let Some(blank) = &model.blank {
            profile.blank_erase_ns = Some(self.quantity("erase_model.blank", TIME, blank)?);
        }
        let spread = base.map(|base| base.erase_spread_permille);
        profile.erase_spread_permille = self.number("erase_model.spread", SHARE, &model.spread, spread)?;
        profile.erase_wear_permille = self.number("erase_model.wear", SHARE, &model.wear, Some(0))?;
        Ok(())
    }

    fn latencies(&mut self, file: &file::File, base: Option<&Profile>) -> Result<Latencies, Fault> {
        let base = base.map(|base| base.latencies);
        let Some(table) = &file.latency else { return base.ok_or_else(|| self.missing("latency")) };
        self.table = table.span().start;
        let table = table.get_ref();
        // A chip that cannot suspend or reset needs no times for it.
        let zero = Some(0);
        Ok(Latencies {
            write_status_ns: self.number(
                "latency.write_status",
                TIME,
                &table.write_status,
                base.map(|base| base.write_status_ns),
            )?,
            suspend_ns: self.number(
                "latency.suspend",
                TIME,
                &table.suspend,
                base.map(|base| base.suspend_ns).or(zero),
            )?,
            resume_ns: self.number("latency.resume", TIME, &table.resume, base.map(|base| base.resume_ns).or(zero))?,
            power_down_ns: self.number(
                "latency.power_down",
                TIME,
                &table.power_down,
                base.map(|base| base.power_down_ns),
            )?,
            release_ns: self.number("latency.release", TIME, &table.release, base.map(|base| base.release_ns))?,
            reset_ns: self.number("latency.reset", TIME, &table.reset, base.map(|base| base.reset_ns).or(zero))?,
        })
    }

    /// Reads of the file beside a dump change the clocks, and what else they say, of the dump's reads.
    fn reads(&mut self, file: &file::File, base: Option<&Profile>) -> Result<Vec<ReadMode>, Fault> {
        let mut reads = base.map(|base| base.reads.clone()).unwrap_or_default();
        if reads.is_empty() && file.read.is_empty() {
            self.table = 0;
            return Err(self.missing("[[read]]"));
        }
        let mut seen = Vec::new();
        for table in &file.read {
            self.table = table.span().start;
            let read = table.get_ref();
            let kind = read_kind(*read.kind.get_ref());
            if seen.contains(&kind) {
                return Err(Fault::at(read.kind.span(), format!("read '{}' is there already", kind.name())));
            }
            seen.push(kind);
            self.place_of("read", read.kind.span());
            let key = format!("read.{}", kind.name());
            let clock_max_hz = self.quantity(&format!("{key}.clock_max"), CLOCK, &read.clock_max)?;
            let told = reads.iter().find(|mode| mode.kind == kind).copied();
            let or_missing = |value: Option<u8>, told: Option<u8>, what: &str, reader: &Self| {
                value.or(told).ok_or_else(|| reader.missing(&format!("{key}.{what}")))
            };
            let mode = ReadMode {
                kind,
                opcode: or_missing(read.opcode, told.map(|told| told.opcode), "opcode", self)?,
                address4_opcode: read.address4_opcode.or(told.and_then(|told| told.address4_opcode)),
                mode_clocks: or_missing(read.mode_clocks, told.map(|told| told.mode_clocks), "mode_clocks", self)?,
                dummy_clocks: or_missing(read.dummy_clocks, told.map(|told| told.dummy_clocks), "dummy_clocks", self)?,
                clock_max_hz,
            };
            reads.retain(|mode| mode.kind != kind);
            reads.push(mode);
        }
        reads.sort_by_key(|mode| ReadKind::ALL.iter().position(|kind| *kind == mode.kind));
        Ok(reads)
    }

    fn quad_program(&mut self, file: &file::File, base: Option<&Profile>) -> Result<Option<QuadProgram>, Fault> {
        let Some(table) = &file.quad_program else { return Ok(base.and_then(|base| base.quad_program)) };
        let quad = table.get_ref();
        let (opcode, address_lines) = (quad.opcode, *quad.address_lines.get_ref());
        if !matches!(address_lines, 1 | 4) {
            let reason = format!("the address of a quad program comes on 1 or 4 lines, not {address_lines}");
            return Err(Fault::at(quad.address_lines.span(), reason));
        }
        self.fact("quad_program", format!("{opcode:#04x}, address on {address_lines}"), source(&quad.source)?);
        Ok(Some(QuadProgram { opcode, address_lines }))
    }

    fn suspend(&mut self, file: &file::File, base: Option<&Profile>) -> Result<Option<SuspendOpcodes>, Fault> {
        let Some(table) = &file.suspend else { return Ok(base.and_then(|base| base.suspend)) };
        let table = table.get_ref();
        let (suspend, resume) = (table.suspend_opcode, table.resume_opcode);
        self.fact("suspend", format!("{suspend:#04x}, {resume:#04x}"), source(&table.source)?);
        Ok(Some(SuspendOpcodes { suspend, resume }))
    }

    fn number<T: TryFrom<u64>>(
        &mut self,
        key: &str,
        dimension: Dimension,
        quantity: &Option<Quantity>,
        told: Option<T>,
    ) -> Result<T, Fault> {
        match quantity {
            Some(quantity) => self.quantity(key, dimension, quantity),
            None => told.ok_or_else(|| self.missing(key)),
        }
    }

    fn quantity<T: TryFrom<u64>>(&mut self, key: &str, dimension: Dimension, quantity: &Quantity) -> Result<T, Fault> {
        self.place_of(key, quantity.value.span());
        let value = format!("{} {}", self.written(&quantity.value), quantity.unit.get_ref());
        self.fact(key, value, source(&quantity.source)?);
        dimension.small(&quantity.value, &quantity.unit)
    }

    fn span(&mut self, key: &str, span: Option<&Span>, told: Option<(u64, u64)>) -> Result<(u64, u64), Fault> {
        let Some(span) = span else { return told.ok_or_else(|| self.missing(key)) };
        self.place_of(key, span.typical.span());
        let unit = span.unit.get_ref();
        let value = format!("{} {unit}, at most {} {unit}", self.written(&span.typical), self.written(&span.max));
        self.fact(key, value, source(&span.source)?);
        Ok((TIME.value(&span.typical, &span.unit)?, TIME.value(&span.max, &span.unit)?))
    }

    fn choice<T: Copy, U>(
        &mut self,
        key: &str,
        choice: &Option<Choice<T>>,
        convert: impl FnOnce(T) -> U,
    ) -> Result<Option<U>, Fault> {
        let Some(choice) = choice else { return Ok(None) };
        self.place_of(key, choice.value.span());
        let value = self.text.get(choice.value.span()).unwrap_or_default().trim_matches('"').to_string();
        self.fact(key, value, source(&choice.source)?);
        Ok(Some(convert(*choice.value.get_ref())))
    }

    /// A number as the file has it.
    fn written(&self, number: &Spanned<Number>) -> String {
        self.text.get(number.span()).map_or_else(|| number.get_ref().to_string(), str::to_string)
    }

    /// What the file says replaces what a dump tells.
    fn fact(&mut self, key: &str, value: String, source: String) {
        self.facts.retain(|fact| fact.key != key);
        self.facts.push(Fact { key: key.to_string(), value, source });
    }

    fn place_of(&mut self, key: &str, span: Range<usize>) {
        self.places.push((key.to_string(), span.start));
    }

    /// Where a key stands; its table's start or the file's if it does not.
    fn place(&self, key: &str) -> usize {
        let place = |key: &str| self.places.iter().rfind(|(known, _)| known == key).map(|(_, at)| *at);
        place(key).or_else(|| place("chip.capacity")).unwrap_or(0)
    }

    fn missing(&self, key: &str) -> Fault {
        Fault { at: self.table, reason: format!("missing: {key}") }
    }
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text.chars().filter(|digit| !digit.is_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{} hexadecimal digits are no whole bytes", digits.len()));
    }
    let digit = |digit: char| digit.to_digit(16).ok_or_else(|| format!("'{digit}' is no hexadecimal digit"));
    digits.chunks(2).map(|pair| Ok((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

const fn quad_enable(word: file::QuadEnable) -> QuadEnable {
    match word {
        file::QuadEnable::None => QuadEnable::None,
        file::QuadEnable::Status1Bit6 => QuadEnable::Status1Bit6,
        file::QuadEnable::Status2Bit1 => QuadEnable::Status2Bit1,
    }
}

const fn continuous_read(word: file::ContinuousRead) -> ContinuousRead {
    match word {
        file::ContinuousRead::None => ContinuousRead::None,
        file::ContinuousRead::Bits54 => ContinuousRead::Bits54,
        file::ContinuousRead::Complement => ContinuousRead::Complement,
    }
}

const fn read_kind(word: file::ReadKind) -> ReadKind {
    match word {
        file::ReadKind::Read => ReadKind::Read,
        file::ReadKind::Fast => ReadKind::Fast,
        file::ReadKind::DualOutput => ReadKind::DualOutput,
        file::ReadKind::DualIo => ReadKind::DualIo,
        file::ReadKind::QuadOutput => ReadKind::QuadOutput,
        file::ReadKind::QuadIo => ReadKind::QuadIo,
    }
}
