//! What one run did, from fio's JSON and from the kernel.

use serde_json::Value;

use crate::linux::program::Finished;

/// What one run did. What a tool does not tell is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Reads of all threads.
    pub count: f64,
    /// The time that they took, in seconds; of one thread where there are several.
    pub runtime_s: f64,
    /// Reads a second, of all threads together.
    pub iops: f64,
    /// Bytes a second, of all threads together.
    pub bytes_per_s: f64,
    /// From an access's beginning to its end, submission included, on average, in nanoseconds.
    pub mean_ns: f64,
    /// 99 of 100 accesses are complete in this time, in nanoseconds, from their submission on.
    pub p99_ns: f64,
    /// Processor time of the job's threads, of the program and of the kernel for it, as the tool tells it, in seconds.
    pub job_cpu_s: f64,
    /// Processor time of the whole program, as the kernel tells it, in seconds.
    pub program_cpu_s: f64,
    /// The most memory that was resident, in bytes.
    pub peak_resident_bytes: u64,
}

impl Figures {
    /// Time for each access, of a thread that does one after the other.
    pub fn ns_each(&self) -> f64 {
        self.runtime_s / self.count * 1e9
    }

    /// Processor time of the job's threads for each access.
    pub fn job_cpu_ns_each(&self) -> f64 {
        self.job_cpu_s / self.count * 1e9
    }

    /// Processor time of the whole program for each access.
    pub fn program_cpu_ns_each(&self) -> f64 {
        self.program_cpu_s / self.count * 1e9
    }
}

/// Figures of a run of one job, or of one group of them, that only reads; `None` if it failed or is no such run.
pub fn of(finished: &Finished) -> Option<Figures> {
    // Notes may come before it.
    let json = &finished.output[finished.output.find('{')?..];
    let run: Value = serde_json::from_str(json).ok()?;
    let [job] = run["jobs"].as_array()?.as_slice() else { return None };
    let read = &job["read"];
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let count = read["total_ios"].as_f64().filter(|count| *count > 0.0 && job["error"] == 0)?;
    let runtime_s = read["runtime"].as_f64().filter(|ms| *ms > 0.0)? / 1e3;
    let cpu_percent = number(&job["usr_cpu"]) + number(&job["sys_cpu"]);
    // With gtod_reduce both say 0, which is none.
    let latency = |value: &Value| value.as_f64().filter(|ns| *ns > 0.0).unwrap_or(f64::NAN);
    Some(Figures {
        count,
        runtime_s,
        iops: number(&read["iops"]),
        // fio's other figure, `bw`, is in whole KiB.
        bytes_per_s: number(&read["bw_bytes"]),
        mean_ns: latency(&read["lat_ns"]["mean"]),
        p99_ns: latency(&read["clat_ns"]["percentile"]["99.000000"]),
        // Percent of the runtimes of all threads together.
        job_cpu_s: cpu_percent / 100.0 * number(&job["job_runtime"]) / 1e3,
        program_cpu_s: finished.cpu_s,
        peak_resident_bytes: finished.peak_resident_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(output: &str) -> Finished {
        Finished { output: output.into(), cpu_s: 3.0, wall_s: 2.5, peak_resident_bytes: 7 }
    }

    const RUN: &str = r#"fio: a note
        { "fio version": "fio-3.33", "jobs": [ { "error": 0, "job_runtime": 4000, "usr_cpu": 20.0, "sys_cpu": 30.0,
            "read": { "total_ios": 1000000, "runtime": 2000, "iops": 500000.5, "bw_bytes": 256000000,
                "lat_ns": { "mean": 1900.25 }, "clat_ns": { "percentile": { "99.000000": 2500 } } } } ] }"#;

    #[test]
    fn fios_json_is_read() {
        let figures = of(&finished(RUN)).unwrap();
        let expected = Figures {
            count: 1e6,
            runtime_s: 2.0,
            iops: 500_000.5,
            bytes_per_s: 256e6,
            mean_ns: 1900.25,
            p99_ns: 2500.0,
            job_cpu_s: 2.0,
            program_cpu_s: 3.0,
            peak_resident_bytes: 7,
        };
        assert_eq!(figures, expected);
        assert_eq!(
            (figures.ns_each(), figures.job_cpu_ns_each(), figures.program_cpu_ns_each()),
            (2000.0, 2000.0, 3000.0)
        );
    }

    #[test]
    fn what_failed_has_no_figures() {
        for (what, instead) in [
            (r#""error": 0"#, r#""error": 5"#),
            (r#""total_ios": 1000000"#, r#""total_ios": 0"#),
            (r#""runtime": 2000"#, r#""runtime": 0"#),
            (r#""jobs": [ {"#, r#""jobs": [ {}, {"#),
        ] {
            assert!(RUN.contains(what));
            assert_eq!(of(&finished(&RUN.replace(what, instead))), None, "{instead}");
        }
        assert_eq!(of(&finished("no JSON")), None);
    }

    #[test]
    fn what_is_not_told_is_no_number() {
        let figures =
            of(&finished(&RUN.replace(r#""mean": 1900.25"#, r#""mean": 0.0"#).replace("99.0", "98.0"))).unwrap();
        assert!(figures.mean_ns.is_nan() && figures.p99_ns.is_nan());
    }
}
