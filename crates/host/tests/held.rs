//! Uses that this machine's kernel may not be able to make, on recorded trees.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

mod support;

use flashmark_host::device::usage::{uses_of_device, uses_of_file};
use flashmark_host::device::{Driver, Identity, InUse, Part, Use};
use support::tree::Tree;

fn uses(tree: &Tree, name: &str) -> Vec<InUse> {
    let sysfs = tree.sysfs();
    let device = sysfs.block_named(name).unwrap_or_else(|| panic!("no {name} in the tree"));
    assert_eq!(sysfs.block(device.number).as_ref(), Some(&device));
    uses_of_device(&sysfs, &device).unwrap()
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
    assert_eq!(uses_of_device(&tree.sysfs(), &device).unwrap(), []);
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
    let tree = Tree::of(&format!("proc/swaps:\n\tFilename Type Size Used Priority\n\t{escaped}  file 8 0 -2\n"));
    let identity = Identity::of_path(&file).unwrap().unwrap();
    let found = uses_of_file(&tree.sysfs(), &identity).unwrap();
    assert_eq!(found, [InUse { part: Part::Itself, by: Use::Swap { area: file } }]);
}
