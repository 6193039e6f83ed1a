//! Workloads from the rows themselves, for measurements that no suite describes.
//!
//! They are treated as the compatibility form of suite `esp-idf` treats its own: one call on a buffer that holds the
//! same data every time, through the file system's cache, nothing synced, raw flash not erased.

use flashmark_core::workload::{Data, Direct, Erase, FileMode, Order, Reopen, Workload};

use crate::table::Row;

/// What a row's operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) reads: bool,
    pub(super) random: bool,
}

/// Words for operations.
const OPS: &[(&str, Op)] = &[
    ("read", Op { reads: true, random: false }),
    ("write", Op { reads: false, random: false }),
    ("seqread", Op { reads: true, random: false }),
    ("seqwrite", Op { reads: false, random: false }),
    ("randread", Op { reads: true, random: true }),
    ("randwrite", Op { reads: false, random: true }),
];

/// The operation that a row's `op` names.
pub(super) fn op_of(text: &str) -> Option<Op> {
    let text = text.to_lowercase();
    OPS.iter().find(|(word, _)| *word == text).map(|(_, op)| *op)
}

/// What a row lacks to describe a measurement completely; `None` if it does.
pub(super) fn lacks(row: &Row) -> Option<&'static str> {
    let lacking = [
        ("fs", row.fs.is_empty()),
        ("op", op_of(&row.op).is_none()),
        ("io_bytes", row.io_bytes.is_none()),
        ("total_bytes", row.total_bytes.is_none()),
        ("runs", row.runs.is_none()),
    ];
    lacking.into_iter().find(|(_, lacks)| *lacks).map(|(column, _)| column)
}

/// Whether two rows are figures of one measurement.
pub(super) fn is_same(one: &Row, other: &Row) -> bool {
    let key = |row: &Row| {
        let texts = [&row.set, &row.bus, &row.mode, &row.op].map(Clone::clone);
        (texts, row.io_bytes, row.total_bytes, row.runs)
    };
    key(one) == key(other)
}

/// The workload that a row describes.
///
/// # Errors
/// Why there is none.
pub(super) fn workload(row: &Row, raw: bool) -> Result<Workload, String> {
    let (Some(op), Some(io_bytes), Some(total_bytes), Some(runs)) =
        (op_of(&row.op), row.io_bytes, row.total_bytes, row.runs)
    else {
        return Err(format!("the row does not describe itself: {} is missing", lacks(row).unwrap_or("op")));
    };
    let block_bytes = u32::try_from(io_bytes).map_err(|_| format!("io_bytes = {io_bytes} is more than 4 GiB"))?;
    let mode = row.mode.replace('_', "-").to_lowercase();
    let file = match mode.as_str() {
        _ if op.reads => FileMode::Existing,
        "append" => FileMode::Append,
        "existing" | "overwrite" | "in-place" => FileMode::Existing,
        _ if op.random => FileMode::Existing,
        _ => FileMode::New,
    };
    let workload = Workload {
        read_percent: if op.reads { 100 } else { 0 },
        order: if op.random { Order::RandomOnce } else { Order::Sequential },
        block_bytes,
        file_bytes: (file != FileMode::Append).then_some(total_bytes),
        size_bytes: Some(total_bytes),
        file,
        reopen: if raw { Reopen::Once } else { Reopen::EachRepeat },
        data: Data::Fixed,
        repeats: runs,
        direct: Direct::Buffered,
        accept_short: true,
        erase: if raw && !op.reads { Erase::Never } else { Erase::Inside },
        ..Workload::named(&format!("{}:{} {}", row.table, row.line, row.name()))
    };
    workload.check().map_err(|contradiction| contradiction.to_string())?;
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in_tables;

    fn stream() -> Row {
        let row = built_in_tables().unwrap()[0].rows[2].clone();
        Row { io_bytes: Some(4096), total_bytes: Some(1 << 20), runs: Some(3), ..row }
    }

    #[test]
    fn a_complete_row_is_a_workload() {
        let made = workload(&stream(), false).unwrap();
        assert_eq!((made.block_bytes, made.size_bytes, made.file_bytes), (4096, Some(1 << 20), Some(1 << 20)));
        assert_eq!((made.file, made.reopen, made.repeats), (FileMode::New, Reopen::EachRepeat, 3));
        let read = workload(&Row { op: "read".into(), ..stream() }, false).unwrap();
        assert_eq!((read.file, read.data), (FileMode::Existing, made.data));
        assert_eq!(workload(&stream(), true).unwrap().erase, Erase::Never);
        let append = workload(&Row { mode: "append".into(), ..stream() }, false).unwrap();
        assert_eq!((append.file, append.file_bytes), (FileMode::Append, None));
    }

    #[test]
    fn an_incomplete_or_impossible_row_is_none() {
        assert_eq!(lacks(&stream()), None);
        assert_eq!(lacks(&Row { runs: None, ..stream() }), Some("runs"));
        assert_eq!(lacks(&Row { op: "erase".into(), ..stream() }), Some("op"));
        assert!(workload(&Row { total_bytes: None, ..stream() }, false).unwrap_err().contains("total_bytes"));
        assert!(workload(&Row { io_bytes: Some(1 << 33), ..stream() }, false).unwrap_err().contains("4 GiB"));
        assert!(workload(&Row { io_bytes: Some(2 << 20), ..stream() }, false).unwrap_err().contains("block"));
        assert!(workload(&Row { runs: Some(u32::MAX), ..stream() }, false).unwrap_err().contains("repeats"));
    }
}
