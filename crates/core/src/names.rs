//! The words of records: each kind's name as it stands in JSON, for outputs that are not JSON.

use crate::record::{Form, OpKind, Reached, Status, TargetKind, WarningCode};
use crate::target::FaultKind;

macro_rules! names {
    ($kind:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $kind {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word that records have for it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
    };
}

names!(Form: Corrected = "corrected", Compat = "compat");
names!(TargetKind: Directory = "directory", File = "file", Device = "device", Lab = "lab", Board = "board");
names!(Status: Done = "done", Interrupted = "interrupted", Failed = "failed", Skipped = "skipped");
names!(Reached: Cache = "cache", Device = "device", Medium = "medium");
names!(OpKind: Read = "read", Write = "write", Sync = "sync", Open = "open", Close = "close", Repeat = "repeat", Drain = "drain", Layout = "layout", Verify = "verify", Trim = "trim");
names!(WarningCode: PageCache = "page-cache", NotDirect = "not-direct", LowerCache = "lower-cache", Sparse = "sparse", SmallTarget = "small-target", NotDurable = "not-durable", ClockStepped = "clock-stepped", Suspended = "suspended", ShortTransfer = "short-transfer", NotErased = "not-erased", FillLevel = "fill-level", Skipped = "skipped", Environment = "environment");
names!(FaultKind: NoSpace = "no-space", Gone = "gone", ReadOnly = "read-only", Denied = "denied", Unsupported = "unsupported", Short = "short", Corrupt = "corrupt", Io = "io");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_json() {
        macro_rules! check {
            ($($kind:ident),+) => {
                $(for word in $kind::ALL {
                    assert_eq!(serde_json::to_value(word).unwrap(), word.name());
                })+
            };
        }
        check!(Form, TargetKind, Status, Reached, OpKind, WarningCode, FaultKind);
    }
}
