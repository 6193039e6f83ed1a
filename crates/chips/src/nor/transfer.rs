//! One transaction as the chip sees it: clocks in, a command done when it is deselected.

use alloc::vec::Vec;

use super::chip::Chip;
use super::command::{Action, AddressBytes, Command, Commands, Data};
use super::violation::{Operation, Violation};
use super::wire::Lines;

/// What the lines read as when nobody drives them.
const UNDRIVEN: u8 = 0xff;

/// What the chip expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Opcode,
    /// This many address bytes more.
    Address(u8),
    /// Mode and dummy clocks: this many more; the first byte in them holds the mode bits, if the command has any.
    Skip {
        clocks: u16,
        first: bool,
    },
    In,
    Out,
    /// Nothing: a command without data is complete.
    Complete,
    /// Nothing any more: the command is ignored.
    Ignore,
}

/// A transaction under way.
pub(super) struct Transfer<'t> {
    chip: &'t mut Chip,
    commands: &'t Commands,
    data: &'t mut Vec<u8>,
    start_ns: u64,
    waited_ns: u64,
    clock_hz: u32,
    clocks: u64,
    stage: Stage,
    opcode: u8,
    command: Option<Command>,
    address: u64,
    /// Bytes put out so far.
    position: u64,
    violation: Option<Violation>,
}

impl<'t> Transfer<'t> {
    pub fn new(
        chip: &'t mut Chip,
        commands: &'t Commands,
        data: &'t mut Vec<u8>,
        start_ns: u64,
        clock_hz: u32,
    ) -> Self {
        let mut transfer = Self {
            chip,
            commands,
            data,
            start_ns,
            waited_ns: 0,
            clock_hz,
            clocks: 0,
            stage: Stage::Opcode,
            opcode: 0,
            command: None,
            address: 0,
            position: 0,
            violation: None,
        };
        if let Some(opcode) = transfer.chip.registers.continuous {
            transfer.command = transfer.commands.get(opcode).copied();
            transfer.opcode = opcode;
            transfer.stage = Stage::Address(transfer.address_bytes());
        }
        transfer
    }

    /// Sends bytes.
    pub fn write(&mut self, lines: Lines, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((byte, more)) = rest.split_first() {
            if self.stage == Stage::In && self.expect(lines, self.data_lines()) {
                self.data.extend_from_slice(rest);
                self.clocks += rest.len() as u64 * lines.clocks_per_byte();
                return;
            }
            self.byte(lines, *byte);
            rest = more;
        }
    }

    /// Receives bytes.
    pub fn read(&mut self, lines: Lines, buf: &mut [u8]) {
        let streams = self.stage == Stage::Out && matches!(self.command, Some(Command { action: Action::Read(_), .. }));
        if streams && self.expect(lines, self.data_lines()) {
            self.chip.stream(self.address.wrapping_add(self.position), buf);
            self.position += buf.len() as u64;
            self.clocks += buf.len() as u64 * lines.clocks_per_byte();
            return;
        }
        for byte in buf {
            *byte = self.byte(lines, UNDRIVEN);
        }
    }

    /// Sends and receives at once.
    pub fn exchange(&mut self, bytes: &[u8], buf: &mut [u8]) {
        for index in 0..bytes.len().max(buf.len()) {
            let received = self.byte(Lines::One, bytes.get(index).copied().unwrap_or(UNDRIVEN));
            if let Some(byte) = buf.get_mut(index) {
                *byte = received;
            }
        }
    }

    /// Sends bytes and puts in their place what comes back.
    pub fn exchange_in_place(&mut self, buf: &mut [u8]) {
        for byte in buf {
            *byte = self.byte(Lines::One, *byte);
        }
    }

    /// Clocks with nobody driving the lines: meant for dummies, and elsewhere as good as sending ones.
    pub fn idle(&mut self, clocks: u32) {
        let mut left = u64::from(clocks);
        while left > 0 {
            let step = match self.stage {
                Stage::Skip { clocks, .. } => {
                    let step = left.min(u64::from(clocks));
                    self.clocks += step;
                    self.skip(step as u16);
                    step
                }
                // Bits of what the chip expects there come on as many lines as it expects them on.
                Stage::Opcode | Stage::Address(_) | Stage::In | Stage::Out
                    if left >= self.expected_lines().clocks_per_byte() =>
                {
                    let lines = self.expected_lines();
                    self.byte(lines, UNDRIVEN);
                    lines.clocks_per_byte()
                }
                Stage::Opcode | Stage::Address(_) | Stage::In => {
                    self.clocks += left;
                    self.malformed();
                    left
                }
                Stage::Out | Stage::Complete | Stage::Ignore => {
                    self.clocks += left;
                    left
                }
            };
            left -= step;
        }
    }

    /// Waits with the chip selected.
    pub fn wait(&mut self, ns: u32) {
        self.waited_ns += u64::from(ns);
    }

    /// Ends the transaction, and does what the command says. Gives the time at which that was.
    pub fn deselect(mut self) -> (u64, Result<(), Violation>) {
        let now_ns = self.now_ns();
        if let Some(command) = self.command {
            self.execute(command, now_ns);
        }
        (now_ns, self.violation.map_or(Ok(()), Err))
    }

    fn now_ns(&self) -> u64 {
        let bus_ns = u128::from(self.clocks) * 1_000_000_000;
        let bus_ns = u64::try_from(bus_ns.div_ceil(u128::from(self.clock_hz))).unwrap_or(u64::MAX);
        self.start_ns.saturating_add(bus_ns).saturating_add(self.waited_ns)
    }

    /// One byte each way, at the end of its clocks.
    fn byte(&mut self, lines: Lines, sent: u8) -> u8 {
        self.clocks += lines.clocks_per_byte();
        match self.stage {
            Stage::Opcode => {
                if self.expect(lines, 1) {
                    self.begin(sent);
                }
            }
            Stage::Address(left) => {
                if self.chip.registers.continuous.is_some() && lines.count() != self.address_lines() {
                    // Ones on one line bring a chip back from reading without opcodes.
                    self.chip.registers.continuous = None;
                    self.command = None;
                    self.stage = Stage::Ignore;
                } else if self.expect(lines, self.address_lines()) {
                    self.address = self.address << 8 | u64::from(sent);
                    self.stage = Stage::Address(left - 1);
                    if left == 1 {
                        self.addressed();
                    }
                }
            }
            Stage::Skip { first, .. } => {
                if first && lines.count() == self.address_lines() {
                    self.mode(sent);
                }
                self.skip(lines.clocks_per_byte() as u16);
            }
            Stage::In => {
                if self.expect(lines, self.data_lines()) {
                    self.data.push(sent);
                }
            }
            Stage::Out => {
                if self.expect(lines, self.data_lines()) {
                    return self.output();
                }
            }
            Stage::Complete => self.malformed(),
            Stage::Ignore => {}
        }
        UNDRIVEN
    }

    fn begin(&mut self, opcode: u8) {
        self.opcode = opcode;
        let Some(command) = self.commands.get(opcode).copied() else {
            return self.ignore(Violation::UnknownOpcode { opcode });
        };
        if let Err(violation) = self.admit(&command) {
            self.violation.get_or_insert(violation);
            self.stage = Stage::Ignore;
            return;
        }
        if self.clock_hz > command.clock_max_hz {
            let violation = Violation::TooFast { opcode, clock_hz: self.clock_hz, max_hz: command.clock_max_hz };
            self.note(violation);
        }
        let quad = command.address_lines == 4 || command.data_lines == 4;
        if quad && !self.chip.registers.quad_enabled(self.chip.profile().quad_enable) {
            return self.ignore(Violation::QuadDisabled { opcode });
        }
        self.command = Some(command);
        match self.address_bytes() {
            0 => self.addressed(),
            bytes => self.stage = Stage::Address(bytes),
        }
    }

    /// Whether the chip listens now. All but a reset's second half clear the first.
    fn admit(&mut self, command: &Command) -> Result<(), Violation> {
        let now_ns = self.now_ns();
        let operation = command.action.operation();
        if command.action != Action::Reset {
            self.chip.registers.reset_enabled = false;
        }
        if command.action == Action::Release && self.chip.is_powered_down() {
            return Ok(());
        }
        if command.action.while_busy() {
            return self.chip.admit_power(now_ns, operation);
        }
        self.chip.admit(now_ns, operation)
    }

    fn address_bytes(&self) -> u8 {
        match self.command.map_or(AddressBytes::None, |command| command.address) {
            AddressBytes::None => 0,
            AddressBytes::Three => 3,
            AddressBytes::Four => 4,
            AddressBytes::ByMode if self.chip.registers.four_byte_mode => 4,
            AddressBytes::ByMode => 3,
        }
    }

    fn address_lines(&self) -> u8 {
        self.command.map_or(1, |command| command.address_lines)
    }

    fn data_lines(&self) -> u8 {
        self.command.map_or(1, |command| command.data_lines)
    }

    fn expected_lines(&self) -> Lines {
        let count = match self.stage {
            Stage::Address(_) => self.address_lines(),
            Stage::In | Stage::Out => self.data_lines(),
            _ => 1,
        };
        match count {
            4 => Lines::Four,
            2 => Lines::Two,
            _ => Lines::One,
        }
    }

    /// The address is complete, or there is none.
    fn addressed(&mut self) {
        let Some(command) = self.command else { return };
        if command.address == AddressBytes::ByMode && !self.chip.registers.four_byte_mode {
            self.address |= u64::from(self.chip.registers.extended_address) << 24;
        }
        match u16::from(command.mode_clocks) + u16::from(command.dummy_clocks) {
            0 => self.skipped(),
            clocks => self.stage = Stage::Skip { clocks, first: command.mode_clocks > 0 },
        }
    }

    fn mode(&mut self, mode: u8) {
        let Some(command) = self.command else { return };
        let asked = self.chip.profile().continuous_read.asked_by(mode, command.address_lines);
        self.chip.registers.continuous = asked.then_some(self.opcode);
    }

    /// Some of the mode and dummy clocks have passed.
    fn skip(&mut self, passed: u16) {
        let Stage::Skip { clocks, .. } = self.stage else { return };
        if passed > clocks {
            self.malformed();
        } else if passed == clocks {
            self.skipped();
        } else {
            self.stage = Stage::Skip { clocks: clocks - passed, first: false };
        }
    }

    /// Data are next.
    fn skipped(&mut self) {
        let Some(command) = self.command else { return };
        self.stage = match command.data {
            Data::None => Stage::Complete,
            Data::In => Stage::In,
            Data::Out => Stage::Out,
        };
        if let Action::Read(_) = command.action {
            if self.address >= self.chip.profile().capacity_bytes {
                let violation = self.chip.outside(Operation::Read, self.address);
                self.violation.get_or_insert(violation);
            }
            let now_ns = self.now_ns();
            if let Err(violation) = self.chip.begin_read(now_ns, self.address, 1) {
                self.violation.get_or_insert(violation);
                self.stage = Stage::Ignore;
            }
        }
    }

    fn output(&mut self) -> u8 {
        let Some(command) = self.command else { return UNDRIVEN };
        let position = self.position;
        self.position += 1;
        let now_ns = self.now_ns();
        let chip = &mut *self.chip;
        match command.action {
            Action::ReadStatus(register) => chip.status_register(register, now_ns),
            Action::ReadId => chip.profile().jedec_id[(position % 3) as usize],
            // An odd address gives the device first.
            Action::ManufacturerId => match (position + self.address) % 2 {
                0 => chip.profile().jedec_id[0],
                _ => chip.profile().electronic_id,
            },
            Action::UniqueId => chip.unique_id()[(position % 8) as usize],
            Action::Release => chip.profile().electronic_id,
            Action::ReadExtendedAddress => chip.registers.extended_address,
            Action::Sfdp => chip.sfdp_byte(self.address + position),
            Action::Read(_) => {
                let mut byte = [0];
                chip.stream(self.address.wrapping_add(position), &mut byte);
                byte[0]
            }
            _ => UNDRIVEN,
        }
    }

    /// What a command does when the chip is deselected after it.
    fn execute(&mut self, command: Command, now_ns: u64) {
        let finished = match (self.stage, command.data) {
            (Stage::Ignore, _) => return,
            // What is read may be cut off anywhere once the address is there; a release needs nothing after its opcode.
            (Stage::Out | Stage::Skip { .. }, Data::Out) | (Stage::Complete, _) => true,
            (Stage::In, _) => !self.data.is_empty(),
            _ => false,
        };
        if !finished {
            if self.chip.registers.continuous.take().is_none() {
                self.malformed();
            }
            return;
        }
        let chip = &mut *self.chip;
        let result = match command.action {
            Action::WriteEnable => chip.write_enable(now_ns),
            Action::VolatileWriteEnable => chip.volatile_write_enable(now_ns),
            Action::WriteDisable => chip.write_disable(now_ns),
            Action::WriteStatus(first) => chip.write_status(now_ns, first, self.data).map(drop),
            Action::Program => chip.program(now_ns, self.address, self.data).map(drop),
            Action::Erase(bytes) => chip.erase(now_ns, bytes, self.address).map(drop),
            Action::ChipErase => chip.chip_erase(now_ns).map(drop),
            Action::Suspend => chip.suspend(now_ns).map(drop),
            Action::Resume => chip.resume(now_ns).map(drop),
            Action::PowerDown => chip.power_down(now_ns).map(drop),
            Action::Release => chip.release(now_ns).map(drop),
            Action::EnableReset => {
                chip.registers.reset_enabled = true;
                Ok(())
            }
            Action::Reset if chip.registers.reset_enabled => chip.reset(now_ns).map(drop),
            Action::Reset => Err(chip.report(Violation::Malformed { opcode: self.opcode })),
            Action::FourByteMode(on) => {
                chip.registers.four_byte_mode = on;
                Ok(())
            }
            Action::WriteExtendedAddress => chip.write_extended_address(self.data),
            Action::Read(_) => chip.end_read(self.address, self.position),
            Action::ReadStatus(_)
            | Action::ReadId
            | Action::ManufacturerId
            | Action::UniqueId
            | Action::Sfdp
            | Action::ReadExtendedAddress => Ok(()),
        };
        if let Err(violation) = result {
            self.violation.get_or_insert(violation);
        }
    }

    /// Whether bytes come on the lines they should come on; if not, the command is ignored from here on.
    fn expect(&mut self, lines: Lines, expected: u8) -> bool {
        if lines.count() == expected {
            return true;
        }
        self.ignore(Violation::WrongLines { opcode: self.opcode, expected, got: lines.count() });
        false
    }

    fn malformed(&mut self) {
        self.ignore(Violation::Malformed { opcode: self.opcode });
    }

    fn ignore(&mut self, violation: Violation) {
        self.note(violation);
        self.stage = Stage::Ignore;
    }

    fn note(&mut self, violation: Violation) {
        let violation = self.chip.report(violation);
        self.violation.get_or_insert(violation);
    }
}
