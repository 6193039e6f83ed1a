//! Times as `ctime(3)` writes them.

use time::{OffsetDateTime, UtcOffset};

/// `Mon Nov 30 21:53:37 2026`, of a time in milliseconds since 1970 began in UTC, told in a zone so many seconds ahead of
/// it. What is out of range is told as the beginning of 1970, an offset that is none as UTC.
pub(super) fn in_words(unix_ms: u64, ahead_of_utc_s: i32) -> String {
    let seconds = i64::try_from(unix_ms / 1000).unwrap_or(i64::MAX);
    let moment = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let zone = UtcOffset::from_whole_seconds(ahead_of_utc_s).unwrap_or(UtcOffset::UTC);
    let moment = moment.checked_to_offset(zone).unwrap_or(moment);
    let (weekday, month) = (moment.weekday().to_string(), moment.month().to_string());
    let (hour, minute, second) = moment.to_hms();
    format!("{weekday:.3} {month:.3} {:>2} {hour:02}:{minute:02}:{second:02} {}", moment.day(), moment.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_ctime_writes() {
        assert_eq!(in_words(1_796_075_617_881, 0), "Mon Nov 30 21:53:37 2026");
        assert_eq!(in_words(1_796_075_617_881, 7200), "Mon Nov 30 23:53:37 2026");
        assert_eq!(in_words(1_796_075_617_881, 3 * 3600), "Tue Dec  1 00:53:37 2026");
        assert_eq!(in_words(0, 0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(in_words(u64::MAX, i32::MAX), "Thu Jan  1 00:00:00 1970");
    }
}
