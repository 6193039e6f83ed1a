//! Swap areas: `/proc/swaps` (proc_swaps(5)).

use std::path::PathBuf;

use super::escape;

/// A swap area in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The device or file.
    pub path: PathBuf,
    /// `partition` for any block device, `file` for a file.
    pub kind: String,
}

/// Reads the text of `/proc/swaps`. Lines that are not of its form are left out.
#[must_use]
pub fn parse(swaps: &[u8]) -> Vec<Swap> {
    swaps.split(|&b| b == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Swap> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let path = fields.next()?;
    let kind = fields.next()?;
    // The heading starts with a word, an area with the path of its node.
    path.starts_with(b"/").then(|| Swap {
        path: escape::path(path.strip_suffix(br"\040(deleted)").unwrap_or(path)),
        kind: escape::text(kind),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn areas_without_the_heading() {
        let text = b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
            /dev/zram0                              partition\t4194300\t\t0\t\t100\n\
            /var/my\\040swap                         file\t\t2097148\t\t0\t\t-2\n\
            /gone\\040(deleted)                      file\t\t2097148\t\t0\t\t-2\n";
        let swaps = parse(text);
        assert_eq!(swaps.len(), 3);
        assert_eq!((swaps[0].path.as_path(), swaps[0].kind.as_str()), (Path::new("/dev/zram0"), "partition"));
        assert_eq!(swaps[1].path, Path::new("/var/my swap"));
        assert_eq!(swaps[2].path, Path::new("/gone"));
        assert_eq!(parse(b""), []);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = parse(&bytes);
        }

        #[test]
        fn near_lines_are_survived(text in "(/[a\\\\04]{0,6}[ \t]{0,3}(partition|file)?[ \t0-9-]{0,6}\n){0,4}") {
            for swap in parse(text.as_bytes()) {
                prop_assert!(swap.path.has_root());
            }
        }
    }
}
