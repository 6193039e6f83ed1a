//! What somebody probably meant.

/// The candidate nearest to `found`, if one is near enough to be worth a guess: one that `found` abbreviates, or one at
/// most a third of its letters away.
pub(crate) fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let found = found.trim().to_lowercase().replace('_', "-");
    let length = found.chars().count();
    if length == 0 || length > 64 {
        return None;
    }
    let distance = |candidate: &str| {
        if length >= 2 && candidate.starts_with(&found) {
            return 0;
        }
        strsim::osa_distance(&found, &candidate.to_lowercase())
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
    fn typing_errors_and_abbreviations_are_recognised() {
        let keys = ["block", "size", "file-size", "sync", "repeats", "sequential", "random", "random-once"];
        for (found, meant) in [
            ("blok", Some("block")),
            ("Block", Some("block")),
            ("blcok", Some("block")),
            ("file_size", Some("file-size")),
            ("seq", Some("sequential")),
            ("rand", Some("random")),
            ("syn", Some("sync")),
            ("banana", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(found, keys), meant, "{found}");
        }
    }
}
