//! Uses that this machine's kernel may not be able to make, on recorded trees.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

mod support;

use flashmark_host::device::survey::{uses_of_device, uses_of_file};
use flashmark_host::device::{Backing, Driver, Identity, InUse, Part, Use};
use support::tree::Tree;

fn uses(tree: &Tree, name: &str) -> Vec<InUse> {
    let sysfs = tree.sysfs();
    let device = sysfs.block_named(name).unwrap_or_else(|| panic!("no {name} in the tree"));
    assert_eq!(sysfs.block(device.number).as_ref(), Some(&device));
    uses_of_device(&sysfs, &device).unwrap().uses
}

/// The messages, one a line.
fn said(tree: &Tree, name: &str) -> String {
    uses(tree, name).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn members_of_an_md_array() {
    let tree = Tree::named("md-raid1");
    insta::assert_snapshot!(said(&tree, "sda2"), @"it is a member of the md array md127 (raid1) (mounted at /); stop that first: mdadm --stop /dev/md127");
    insta::assert_snapshot!(said(&tree, "sdb"), @"its partition /dev/sdb2 is a member of the md array md127 (raid1) (mounted at /); stop that first: mdadm --stop /dev/md127");
    insta::assert_snapshot!(said(&tree, "md127"), @"it is mounted at / (ext4): this system runs from it; boot from another medium to overwrite it");
    // The other partition of the same disk has nothing to do with it.
    assert_eq!(uses(&tree, "sda1"), []);
}

#[test]
fn swap_on_a_partition() {
    let tree = Tree::named("md-raid1");
    insta::assert_snapshot!(said(&tree, "sdc"), @"its partition /dev/sdc2 is in use as swap; switch it off first: swapoff /dev/sdc2");
    assert_eq!(uses(&tree, "sdc2")[0].part, Part::Itself);
    assert_eq!(uses(&tree, "sdc1"), []);
}

#[test]
fn members_of_a_btrfs_of_several_devices() {
    let tree = Tree::named("md-raid1");
    insta::assert_snapshot!(said(&tree, "sdd"), @r"
    it is mounted at /home (btrfs); unmount it first: umount /home
    it belongs to the mounted btrfs 6c5c3a8d-0d3e-4a3a-9d5b-0c1f6f0e7b11 (mounted at /home); unmount that first
    ");
    // The mount names the first device only.
    insta::assert_snapshot!(said(&tree, "sde"), @"it belongs to the mounted btrfs 6c5c3a8d-0d3e-4a3a-9d5b-0c1f6f0e7b11 (mounted at /home); unmount that first");
}

#[test]
fn lvm_on_an_encrypted_partition() {
    let tree = Tree::named("laptop-lvm-crypt");
    insta::assert_snapshot!(said(&tree, "nvme0n1"), @r"
    its partition /dev/nvme0n1p1 is mounted at /boot/efi (vfat); unmount it first: umount /boot/efi
    its partition /dev/nvme0n1p2 is opened as the encrypted volume nvme0n1p2_crypt (mounted at /); close that first: cryptsetup close nvme0n1p2_crypt
    ");
    insta::assert_snapshot!(said(&tree, "nvme0n1p2"), @"it is opened as the encrypted volume nvme0n1p2_crypt (mounted at /); close that first: cryptsetup close nvme0n1p2_crypt");
    insta::assert_snapshot!(said(&tree, "dm-0"), @r"
    it is part of the LVM volume laptop-root (mounted at /); deactivate that first: lvchange -an /dev/mapper/laptop-root
    it is part of the LVM volume laptop-swap; deactivate that first: lvchange -an /dev/mapper/laptop-swap
    ");
    insta::assert_snapshot!(said(&tree, "dm-1"), @"it is mounted at / (ext4): this system runs from it; boot from another medium to overwrite it");
    insta::assert_snapshot!(said(&tree, "dm-2"), @"it is in use as swap; switch it off first: swapoff /dev/dm-2");
}

#[test]
fn other_holders() {
    let tree = Tree::named("laptop-lvm-crypt");
    insta::assert_snapshot!(said(&tree, "sda"), @"it is a path of the multipath device mpatha; flush that first: multipath -f mpatha");
    insta::assert_snapshot!(said(&tree, "sdb"), @"it is used by bcache0; stop that first: echo 1 > /sys/block/bcache0/bcache/stop");
    insta::assert_snapshot!(said(&tree, "sdc"), @"it is used by the device-mapper device a linear one; remove that first: dmsetup remove 'a linear one'");
    insta::assert_snapshot!(said(&tree, "sdd"), @"it is the backing device of /dev/zram0; reset that first: zramctl --reset /dev/zram0");
    assert!(
        matches!(&uses(&tree, "sda")[0].by, Use::Held { holder } if matches!(holder.driver, Driver::Multipath { .. }))
    );
}

#[test]
fn a_card_with_mounted_partitions() {
    let tree = Tree::named("raspberry-pi");
    insta::assert_snapshot!(said(&tree, "mmcblk0"), @r"
    its partition /dev/mmcblk0p1 is mounted at /boot/firmware (vfat); unmount it first: umount /boot/firmware
    its partition /dev/mmcblk0p2 is mounted at / (ext4): this system runs from it; boot from another medium to overwrite it
    ");
    let mounted: Vec<Part> = uses(&tree, "mmcblk0").into_iter().map(|usage| usage.part).collect();
    assert_eq!(mounted, ["mmcblk0p1", "mmcblk0p2"].map(|name| Part::Partition(name.into())));
}

#[test]
fn names_with_slashes() {
    let tree = Tree::named("laptop-lvm-crypt");
    let device = tree.sysfs().block_named("cciss/c0d0").unwrap();
    assert_eq!((device.name.as_str(), device.node().to_str()), ("cciss/c0d0", Some("/dev/cciss/c0d0")));
    assert_eq!(uses_of_device(&tree.sysfs(), &device).unwrap().uses, []);
}

/// Nothing that can't be checked passes for unused.
#[test]
fn without_proc_nothing_can_be_said() {
    let tree =
        Tree::of("sys/devices/virtual/block/sdx/dev = 8:0\nsys/class/block/sdx -> ../../devices/virtual/block/sdx\n");
    let device = tree.sysfs().block_named("sdx").unwrap();
    assert!(uses_of_device(&tree.sysfs(), &device).is_err());
}

#[test]
fn files_in_use_as_swap() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("swap file");
    std::fs::write(&file, "").unwrap();
    let escaped = file.display().to_string().replace(' ', "\\040");
    let tree = Tree::of(&format!(
        "proc/self/mountinfo:\nproc/swaps:\n\tFilename Type Size Used Priority\n\t{escaped}  file 8 0 -2\n"
    ));
    let identity = Identity::of_path(&file).unwrap().unwrap();
    let found = uses_of_file(&tree.sysfs(), &identity).unwrap().uses;
    assert_eq!(found, [InUse { part: Part::Itself, by: Use::Swap { area: file } }]);
}

/// A disk `sda` with two device-mapper devices on it, the second one mounted at /srv.
fn shared(uuids: [&str; 2]) -> Tree {
    let mut tree = String::from(
        "proc/self/mountinfo:\n\t30 1 253:1 / /srv rw - ext4 /dev/mapper/second rw\n\
         sys/devices/virtual/block/sda/dev = 8:0\n\
         sys/class/block/sda -> ../../devices/virtual/block/sda\n\
         sys/dev/block/8:0 -> ../../devices/virtual/block/sda\n",
    );
    for (minor, (name, uuid)) in [("first", uuids[0]), ("second", uuids[1])].into_iter().enumerate() {
        let dir = format!("sys/devices/virtual/block/dm-{minor}");
        tree += &format!(
            "{dir}/dev = 253:{minor}\n{dir}/dm/name = {name}\n{dir}/dm/uuid = {uuid}\n{dir}/slaves/sda -> ../../sda\n\
             sys/devices/virtual/block/sda/holders/dm-{minor} -> ../../dm-{minor}\n\
             sys/class/block/dm-{minor} -> ../../devices/virtual/block/dm-{minor}\n\
             sys/dev/block/253:{minor} -> ../../devices/virtual/block/dm-{minor}\n"
        );
    }
    Tree::of(&tree)
}

#[test]
fn mappings_by_hand_may_overlap() {
    let tree = shared(["", ""]);
    insta::assert_snapshot!(said(&tree, "dm-0"), @"the device /dev/sda below it is used by the device-mapper device second (mounted at /srv); remove that first: dmsetup remove second");
    assert_eq!(uses(&tree, "dm-0")[0].part, Part::Backing(Backing::Device("sda".into())));
    // Each is in the way of the other, mounted or not; whose uses come first is told first.
    insta::assert_snapshot!(said(&tree, "dm-1"), @r"
    it is mounted at /srv (ext4); unmount it first: umount /srv
    the device /dev/sda below it is used by the device-mapper device first; remove that first: dmsetup remove first
    ");
    let mixed = shared(["", "LVM-aBcDeF"]);
    insta::assert_snapshot!(said(&mixed, "dm-0"), @"the device /dev/sda below it is part of the LVM volume second (mounted at /srv); deactivate that first: lvchange -an /dev/mapper/second");
}

#[test]
fn volumes_of_one_manager_do_not_overlap() {
    for uuids in [["LVM-aBcDeF", "LVM-gHiJkL"], ["part1-mpath-3600", "part2-mpath-3600"]] {
        assert_eq!(uses(&shared(uuids), "dm-0"), [], "{uuids:?}");
    }
    // The volumes of the laptop share a PV, and one of them is mounted.
    assert_eq!(uses(&Tree::named("laptop-lvm-crypt"), "dm-2").len(), 1);
}

/// A loop device, whose backing in a tree is known by its path.
fn with_loop(tree: &str, number: u32, backing: &str) -> String {
    let dir = format!("sys/devices/virtual/block/loop{number}");
    format!(
        "{tree}{dir}/dev = 7:{number}\n{dir}/loop/backing_file = {backing}\n\
         sys/class/block/loop{number} -> ../../devices/virtual/block/loop{number}\n\
         sys/dev/block/7:{number} -> ../../devices/virtual/block/loop{number}\n"
    )
}

#[test]
fn loop_devices_on_one_file() {
    let mounts = "proc/self/mountinfo:\n\t30 1 7:0 / /srv rw - ext4 /dev/loop0 rw\n";
    let tree = with_loop(&with_loop(&with_loop(mounts, 0, "/nowhere/a.img"), 1, "/nowhere/a.img"), 2, "/nowhere/b.img");
    let tree = Tree::of(&tree);
    insta::assert_snapshot!(said(&tree, "loop1"), @"the file /nowhere/a.img below it is the backing file of /dev/loop0, and /dev/loop0 is mounted at /srv (ext4); unmount it first: umount /srv");
    assert_eq!(uses(&tree, "loop2"), []);
}

#[test]
fn piles_that_are_too_high_or_in_a_circle() {
    let pile = |on: &dyn Fn(u32) -> String| {
        let tree = (0..20).fold("proc/self/mountinfo:\n".to_owned(), |tree, n| with_loop(&tree, n, &on(n)));
        Tree::of(&tree)
    };
    let high = pile(&|n| n.checked_sub(1).map_or("/nowhere/a.img".into(), |below| format!("/dev/loop{below}")));
    let device = |name| high.sysfs().block_named(name).unwrap();
    let error = uses_of_device(&high.sysfs(), &device("loop19")).unwrap_err();
    assert!(error.to_string().contains("more than 16 devices are on top of each other"), "{error}");
    assert!(uses_of_device(&high.sysfs(), &device("loop10")).is_ok());
    let circle = pile(&|n| format!("/dev/loop{}", (n + 1) % 3));
    assert!(uses_of_device(&circle.sysfs(), &circle.sysfs().block_named("loop0").unwrap()).is_ok());
}
