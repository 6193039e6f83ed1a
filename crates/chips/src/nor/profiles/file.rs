//! The shape of a profile's file. Everything is optional here: what a dump tells need not be said.

use std::string::String;
use std::vec::Vec;

use serde::Deserialize;
use toml::Spanned;

use super::quantity::{Choice, Quantity, Span};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub chip: Spanned<Chip>,
    pub program: Option<Spanned<Program>>,
    #[serde(default)]
    pub erase: Vec<Spanned<Erase>>,
    pub chip_erase: Option<Spanned<Span>>,
    pub erase_model: Option<Spanned<EraseModel>>,
    pub latency: Option<Spanned<Latency>>,
    #[serde(default)]
    pub read: Vec<Spanned<Read>>,
    pub quad_program: Option<Spanned<QuadProgram>>,
    pub suspend: Option<Spanned<Suspend>>,
    pub sfdp: Option<Spanned<Sfdp>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chip {
    pub name: String,
    pub manufacturer: String,
    pub jedec_id: Option<Choice<String>>,
    pub electronic_id: Option<Choice<u8>>,
    pub capacity: Option<Quantity>,
    pub page: Option<Quantity>,
    pub endurance: Option<Quantity>,
    pub clock_max: Option<Quantity>,
    pub status_registers: Option<Quantity>,
    pub quad_enable: Option<Choice<QuadEnable>>,
    pub quad_enabled: Option<Choice<bool>>,
    pub continuous_read: Option<Choice<ContinuousRead>>,
    pub four_byte_address: Option<Choice<bool>>,
    pub unique_id: Option<Choice<bool>>,
    pub software_reset: Option<Choice<bool>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QuadEnable {
    None,
    #[serde(rename = "status1-bit6")]
    Status1Bit6,
    #[serde(rename = "status2-bit1")]
    Status2Bit1,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ContinuousRead {
    None,
    #[serde(rename = "bits54")]
    Bits54,
    Complement,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub first_byte: Option<Quantity>,
    pub next_byte: Option<Quantity>,
    pub page: Option<Span>,
    pub unchanged: Option<Quantity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Erase {
    pub opcode: u8,
    pub address4_opcode: Option<u8>,
    pub size: Quantity,
    pub time: Span,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EraseModel {
    pub blank: Option<Quantity>,
    pub spread: Option<Quantity>,
    pub wear: Option<Quantity>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Latency {
    pub write_status: Option<Quantity>,
    pub suspend: Option<Quantity>,
    pub resume: Option<Quantity>,
    pub power_down: Option<Quantity>,
    pub release: Option<Quantity>,
    pub reset: Option<Quantity>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReadKind {
    Read,
    Fast,
    DualOutput,
    DualIo,
    QuadOutput,
    QuadIo,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub kind: Spanned<ReadKind>,
    pub opcode: Option<u8>,
    pub address4_opcode: Option<u8>,
    pub mode_clocks: Option<u8>,
    pub dummy_clocks: Option<u8>,
    pub clock_max: Quantity,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuadProgram {
    pub opcode: u8,
    pub address_lines: Spanned<u8>,
    pub source: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suspend {
    pub suspend_opcode: u8,
    pub resume_opcode: u8,
    pub source: Spanned<String>,
}

/// Either `absent = true`, or a dump and where it is from. Without the table: generated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sfdp {
    pub absent: Option<bool>,
    pub dump: Option<Spanned<String>>,
    pub source: Spanned<String>,
}
