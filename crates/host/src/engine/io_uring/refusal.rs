//! Why the kernel refuses a ring or what is registered with it, for people.

use std::fs;
use std::io;

use rustix::process::{Resource, getrlimit};

use crate::engine::setup::EngineError;

/// What was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Rings { submission_thread: bool },
    Buffers,
    Files,
}

/// What the refusal of this step means on this machine.
pub(super) fn of(step: Step, source: io::Error) -> EngineError {
    let machine = Machine {
        io_uring_disabled: fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok().map(|text| text.trim().into()),
        locked_bytes_max: getrlimit(Resource::Memlock).current,
    };
    let (why, remedy) = explain(step, source.raw_os_error().unwrap_or(0), &machine);
    EngineError::Refused { engine: super::NAME, why, remedy, source }
}

/// What refusals depend on.
struct Machine {
    /// The value of the sysctl, on kernels that have it (6.6).
    io_uring_disabled: Option<String>,
    /// `RLIMIT_MEMLOCK`; `None` is without limit.
    locked_bytes_max: Option<u64>,
}

const INSTEAD: &str = "use the engine `libaio`";

fn explain(step: Step, errno: i32, machine: &Machine) -> (String, String) {
    let or_instead = |what: &str| format!("{what}, or {INSTEAD}");
    match (errno, step) {
        (libc::EPERM | libc::EACCES, Step::Rings { submission_thread }) => match machine.io_uring_disabled.as_deref() {
            Some("2") => (
                "it is switched off for everybody (kernel.io_uring_disabled = 2)".into(),
                or_instead("allow it with `sysctl kernel.io_uring_disabled=0`"),
            ),
            Some("1") => (
                "it is for CAP_SYS_ADMIN and the group of kernel.io_uring_group only (kernel.io_uring_disabled = 1)".into(),
                or_instead("run as root or join that group, or allow it with `sysctl kernel.io_uring_disabled=0`"),
            ),
            _ if submission_thread => (
                "a submission thread needs CAP_SYS_NICE before Linux 5.13, and a seccomp filter may forbid all of io_uring"
                    .into(),
                or_instead("leave the submission thread out"),
            ),
            _ => (
                "no sysctl switches it off, so it is a seccomp filter, as containers have".into(),
                or_instead("start the container with a profile that allows io_uring_setup (--security-opt seccomp=…)"),
            ),
        },
        (libc::ENOSYS, _) => (
            "this kernel has no io_uring (Linux 5.6 with CONFIG_IO_URING is needed), or a sandbox hides it".into(),
            or_instead("use another kernel"),
        ),
        (libc::ENOMEM, _) => {
            let limit = machine.locked_bytes_max.map_or_else(
                || "there is not enough memory".into(),
                |bytes| {
                    format!(
                        "there is not enough memory, or more would be locked than may be (RLIMIT_MEMLOCK is {bytes} bytes)"
                    )
                },
            );
            let less = if step == Step::Buffers { "leave fixed buffers out" } else { "make the queue shallower" };
            (limit, or_instead(&format!("raise the limit with `ulimit -l`, or {less}")))
        }
        (libc::EMFILE | libc::ENFILE, _) => (
            "no more files can be open".into(),
            "raise the limit with `ulimit -n`, or use fewer threads or files".into(),
        ),
        (libc::EINVAL, Step::Rings { submission_thread: true }) => (
            "the processor of the submission thread does not exist or is not allowed for this process".into(),
            "name another processor, or none".into(),
        ),
        (libc::EFAULT | libc::EOPNOTSUPP, Step::Buffers) => {
            ("it cannot pin the buffers".into(), "leave fixed buffers out".into())
        }
        (libc::EBADF | libc::EOPNOTSUPP, Step::Files) => {
            ("it cannot register these files".into(), "leave registered files out".into())
        }
        (errno, _) => (io::Error::from_raw_os_error(errno).to_string(), INSTEAD.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(step: Step, errno: i32, disabled: Option<&str>) -> String {
        let machine = Machine { io_uring_disabled: disabled.map(Into::into), locked_bytes_max: Some(8192) };
        let (why, remedy) = explain(step, errno, &machine);
        format!("{why}; {remedy}")
    }

    /// Each refusal names the setting that applies, and an engine to use instead.
    #[test]
    fn refusals_name_what_applies_here() {
        let rings = Step::Rings { submission_thread: false };
        let off = text(rings, libc::EPERM, Some("2"));
        assert!(off.contains("kernel.io_uring_disabled = 2") && off.contains("`libaio`"), "{off}");
        let group = text(rings, libc::EPERM, Some("1"));
        assert!(group.contains("kernel.io_uring_group"), "{group}");
        for disabled in [Some("0"), None] {
            assert!(text(rings, libc::EPERM, disabled).contains("seccomp"));
        }
        assert!(text(Step::Rings { submission_thread: true }, libc::EPERM, None).contains("CAP_SYS_NICE"));
        assert!(text(rings, libc::ENOSYS, None).contains("CONFIG_IO_URING"));
        let memory = text(Step::Buffers, libc::ENOMEM, None);
        assert!(
            memory.contains("RLIMIT_MEMLOCK is 8192 bytes") && memory.contains("leave fixed buffers out"),
            "{memory}"
        );
        assert!(text(rings, libc::EMFILE, None).contains("ulimit -n"));
    }
}
