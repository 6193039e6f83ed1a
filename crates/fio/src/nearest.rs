//! What somebody probably meant.

/// The candidate nearest to `found`, if one is near enough to be worth a guess: one that `found` begins, or one at most
/// a third of its letters away.
pub(crate) fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let found = plain(found.trim());
    let length = found.chars().count();
    if !(2..=64).contains(&length) {
        return None;
    }
    let distance = |candidate: &str| {
        let candidate = plain(candidate);
        let distance = strsim::osa_distance(&found, &candidate);
        if length >= 3 && candidate.starts_with(&found) { distance.min(1) } else { distance }
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, candidate)| *distance <= length.max(candidate.len()).div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean X?`, or nothing.
pub(crate) fn guess(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_beginnings_are_recognised() {
        let options = ["iodepth", "iodepth_batch", "direct", "directory", "rw", "time_based", "runtime", "bs"];
        for (found, meant) in [
            ("io_depth", Some("iodepth")),
            ("iodepht", Some("iodepth")),
            ("time-based", Some("time_based")),
            ("RUNTIME", Some("runtime")),
            ("directry", Some("directory")),
            ("runt", Some("runtime")),
            ("banana", None),
            ("DIRECT", Some("direct")),
            ("b", None),
            ("", None),
        ] {
            assert_eq!(nearest(found, options), meant, "{found}");
        }
    }
}
