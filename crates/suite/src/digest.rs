//! The digest of what a run is to do, for going on with it later.

use core::hash::Hasher;
use std::io;

use flashmark_core::workload::Workload;
use fnv::FnvHasher;

/// 16 hexadecimal digits that stay the same, on every machine and in every build with the same record schema, as long
/// as `workloads` and `targets` do: FNV-1a over their JSON. It tells two plans apart; it is no protection against
/// somebody who wants them to collide.
#[must_use]
pub fn digest(workloads: &[Workload], targets: &[String]) -> String {
    let mut sink = Sink(FnvHasher::default());
    if let Err(error) = serde_json::to_writer(&mut sink, &(workloads, targets)) {
        // Workloads and strings always have a JSON form; should that change, the digest still differs from any other.
        sink.0.write(error.to_string().as_bytes());
    }
    format!("{:016x}", sink.0.finish())
}

struct Sink(FnvHasher);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_stable_and_tells_plans_apart() {
        let workload = Workload::named("w");
        let targets = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let plan = digest(std::slice::from_ref(&workload), &targets(&["."]));
        // FNV-1a of the JSON below, so that a change of the record's form is noticed here.
        let json = serde_json::to_string(&([&workload], ["."])).unwrap();
        let by_hand = json
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        assert_eq!(plan, format!("{by_hand:016x}"));
        assert_eq!(plan.len(), 16);

        let other = Workload { seed: 1, ..workload.clone() };
        assert_ne!(plan, digest(&[other], &targets(&["."])));
        assert_ne!(plan, digest(&[workload.clone(), workload.clone()], &targets(&["."])));
        assert_ne!(plan, digest(std::slice::from_ref(&workload), &targets(&["/tmp"])));
        assert_ne!(
            digest(std::slice::from_ref(&workload), &targets(&["a", "b"])),
            digest(std::slice::from_ref(&workload), &targets(&["a,b"]))
        );
    }
}
