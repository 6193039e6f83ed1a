//! Images that the lab makes, in the eyes of others.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::process::Command;

use support::process::flashmark;
use support::{Scratch, can_run};

fn output_of(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{command:?}: {text}");
    text
}

/// FatFs ran on simulated flash, and the volume that it left is one to dosfstools and mtools as well.
#[test]
fn a_fat_volume_is_one_to_others() {
    if !can_run(false, &["fsck.fat", "mdir"]) {
        return;
    }
    for (nth, settings) in
        ["fatfs.cluster=4k", "fatfs.cluster=16k,fatfs.fats=1", "fatfs.lfn=on,fatfs.sector=4096"].into_iter().enumerate()
    {
        let out = Scratch::new();
        let image = out.join(&format!("{nth}.img"));
        let words =
            format!("run lab:esp32/fatfs,fatfs.wear-levelling=false,{settings} --op write --block 10k --size 300k");
        flashmark(&words).words("--sync end --save-image").arg(&image).exits(0);
        output_of(Command::new("fsck.fat").arg("-n").arg(&image));
        let listing = output_of(Command::new("mdir").arg("-i").arg(&image).arg("::/"));
        assert!(listing.to_lowercase().contains("test") && listing.contains("307 200"), "{settings}: {listing}");
    }
}
