//! Why the kernel refuses a context, for people.

use std::fs;
use std::io;

use crate::engine::setup::EngineError;

pub(super) fn of(depth: u32, source: io::Error) -> EngineError {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/fs/{name}")).ok().map(|text| text.trim().to_owned());
    let (why, remedy) = explain(depth, source.raw_os_error(), read("aio-nr").zip(read("aio-max-nr")));
    EngineError::Refused { engine: super::NAME, why, remedy, source }
}

/// `used_and_most`: the sysctls fs.aio-nr and fs.aio-max-nr.
fn explain(depth: u32, errno: Option<i32>, used_and_most: Option<(String, String)>) -> (String, String) {
    let instead = "use the engine `io_uring`";
    match errno {
        Some(libc::EAGAIN) => {
            let why = used_and_most.map_or_else(
                || "more operations were asked for than fs.aio-max-nr allows".into(),
                |(used, most)| {
                    format!("{depth} operations were asked for, and of the machine's fs.aio-max-nr = {most}, fs.aio-nr = {used} are in use")
                },
            );
            (why, format!("make the queue shallower, raise it with `sysctl fs.aio-max-nr=…`, or {instead}"))
        }
        Some(libc::ENOSYS) => {
            ("this kernel has no CONFIG_AIO, or a sandbox hides it".into(), format!("{instead} or `sync`"))
        }
        Some(libc::EPERM) => ("a seccomp filter forbids it".into(), "use the engine `sync`".into()),
        Some(libc::ENOMEM) => ("there is not enough memory".into(), format!("make the queue shallower, or {instead}")),
        other => (io::Error::from_raw_os_error(other.unwrap_or(0)).to_string(), instead.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_what_applies_here() {
        let (why, remedy) = explain(4096, Some(libc::EAGAIN), Some(("65000".into(), "65536".into())));
        assert!(
            why.contains("fs.aio-max-nr = 65536") && why.contains("fs.aio-nr = 65000") && why.contains("4096"),
            "{why}"
        );
        assert!(remedy.contains("sysctl fs.aio-max-nr") && remedy.contains("`io_uring`"), "{remedy}");
        assert!(explain(1, Some(libc::ENOSYS), None).0.contains("CONFIG_AIO"));
    }
}
