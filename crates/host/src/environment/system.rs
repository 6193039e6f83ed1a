//! Kernel, processor, memory.

use flashmark_core::environment::Environment;

use crate::device::Sysfs;

/// The part of the environment that is the same for every target.
#[must_use]
pub fn describe_system(sysfs: &Sysfs) -> Environment {
    Environment {
        system: Some(system(sysfs)),
        cpu_model: cpu_model(sysfs),
        cpu_count: cpu_count(sysfs),
        cpu_governor: governor(sysfs),
        memory_bytes: memory_bytes(sysfs),
        ..Environment::default()
    }
}

/// Operating system, release, machine.
fn system(sysfs: &Sysfs) -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let known = (sysfs.text("proc/sys/kernel/ostype"), sysfs.text("proc/sys/kernel/osrelease"));
    match known {
        // `/proc/sys/kernel/arch` is there since Linux 6.1.
        (Some(name), Some(release)) => {
            let arch = sysfs.text("proc/sys/kernel/arch").unwrap_or_else(|| arch.into());
            format!("{name} {release} {arch}")
        }
        _ => format!("{os} {arch}"),
    }
}

/// On a board, the board and its processor; else the processor.
///
/// `/proc/cpuinfo` differs from architecture to architecture. On ARM boards it also has the serial number, which is not
/// looked at.
fn cpu_model(sysfs: &Sysfs) -> Option<String> {
    let info = sysfs.text("proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        info.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    // x86 and 32-bit ARM; POWER; RISC-V; LoongArch.
    let processor =
        field("model name").or_else(|| field("cpu")).or_else(|| field("uarch")).or_else(|| field("Model Name"));
    let board = field("Model").or_else(|| sysfs.text("proc/device-tree/model"));
    match (board, processor.or_else(|| field("Hardware"))) {
        (Some(board), Some(processor)) => Some(format!("{board}, {processor}")),
        (board, processor) => board.or(processor),
    }
}

fn cpu_count(sysfs: &Sysfs) -> Option<u32> {
    let online = sysfs.text("sys/devices/system/cpu/online").and_then(|list| count_of_list(&list));
    online.or_else(|| u32::try_from(std::thread::available_parallelism().ok()?.get()).ok())
}

/// How many numbers a list such as `0-3,6` has.
fn count_of_list(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// Of all clusters of processors, each governor once.
fn governor(sysfs: &Sysfs) -> Option<String> {
    let root = "sys/devices/system/cpu/cpufreq";
    let mut found: Vec<String> = Vec::new();
    for policy in sysfs.names(root) {
        if let Some(governor) = sysfs.text(format!("{root}/{policy}/scaling_governor"))
            && !found.contains(&governor)
        {
            found.push(governor);
        }
    }
    (!found.is_empty()).then(|| found.join(", "))
}

fn memory_bytes(sysfs: &Sysfs) -> Option<u64> {
    let info = sysfs.text("proc/meminfo")?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    // "kB" is 1024 bytes here.
    total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(count_of_list("0"), Some(1));
        assert_eq!(count_of_list("0-3"), Some(4));
        assert_eq!(count_of_list("0-1,4,6-7"), Some(5));
        assert_eq!(count_of_list(""), None);
        assert_eq!(count_of_list("3-1"), None);
        assert_eq!(count_of_list("0-4294967295"), None);
    }
}
