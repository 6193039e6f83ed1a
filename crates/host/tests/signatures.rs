//! Formats as their own tools write them, and `blkid` as the second opinion.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod support;

use std::os::unix::fs::FileExt as _;

use flashmark_host::device::inspect;
use flashmark_host::device::signature::{Medium, Signature, probe};
use support::devices::Image;
use support::{can_run, run};

/// What is made: the programs, the command with the image as `$F`, its size in MiB, and what is to be found.
struct Case {
    programs: &'static [&'static str],
    command: &'static str,
    mib: u64,
    name: &'static str,
    what: &'static str,
    label: Option<&'static str>,
}

const fn case(
    programs: &'static [&'static str],
    command: &'static str,
    mib: u64,
    name: &'static str,
    what: &'static str,
    label: Option<&'static str>,
) -> Case {
    Case { programs, command, mib, name, what, label }
}

const LUKS: &str = "--pbkdf-force-iterations 1000 -q $F -";

#[rustfmt::skip]
const CASES: &[Case] = &[
    case(&["mkfs.ext4"], "mkfs.ext4 -q -L karte $F", 16, "ext4", "ext4 file system", Some("karte")),
    case(&["mkfs.ext3"], "mkfs.ext3 -q $F", 16, "ext3", "ext3 file system", None),
    case(&["mkfs.ext2"], "mkfs.ext2 -q -L sixteen-letters- $F", 16, "ext2", "ext2 file system", Some("sixteen-letters-")),
    case(&["mke2fs"], "mke2fs -q -O journal_dev $F 2>&1", 16, "jbd", "journal of an ext file system", None),
    case(&["mkfs.btrfs"], "mkfs.btrfs -q -L karte $F", 128, "btrfs", "btrfs file system", Some("karte")),
    case(&["mkfs.xfs"], "mkfs.xfs -q -L karte $F", 512, "xfs", "xfs file system", Some("karte")),
    case(&["mkfs.vfat"], "mkfs.vfat -F 12 -n KARTE $F", 4, "vfat", "FAT12 file system", Some("KARTE")),
    case(&["mkfs.vfat"], "mkfs.vfat -F 16 $F", 16, "vfat", "FAT16 file system", None),
    case(&["mkfs.vfat"], "mkfs.vfat -F 32 -n 'MY CARD' $F", 64, "vfat", "FAT32 file system", Some("MY CARD")),
    case(&["mkfs.vfat"], "mkfs.vfat --mbr=yes -F 32 $F", 64, "vfat", "FAT32 file system", None),
    case(&["mkswap"], "mkswap -q -p 4096 -L auslagerung $F", 8, "swap", "swap area", Some("auslagerung")),
    case(&["mkswap"], "mkswap -q -p 8192 $F", 8, "swap", "swap area", None),
    case(&["mkswap"], "mkswap -q -p 16384 $F", 8, "swap", "swap area", None),
    case(&["mkswap"], "mkswap -q -p 32768 $F", 8, "swap", "swap area", None),
    case(&["mkswap"], "mkswap -q -p 65536 -L t $F", 8, "swap", "swap area", Some("t")),
    case(&["mkfs.f2fs"], "mkfs.f2fs -q -l größe $F", 64, "f2fs", "f2fs file system", Some("größe")),
    case(&["mkfs.exfat"], "mkfs.exfat $F", 16, "exfat", "exfat file system", None),
    case(&["mkntfs"], "mkntfs -q -F $F", 16, "ntfs", "ntfs file system", None),
    case(&["mksquashfs"], "mksquashfs $D $F -noappend -quiet", 0, "squashfs", "squashfs file system", None),
    case(&["mkfs.erofs"], "mkfs.erofs $F $D", 0, "erofs", "erofs file system", None),
    case(&["genisoimage"], "genisoimage -quiet -V CD_1 -o $F $D", 0, "iso9660", "iso9660 file system", Some("CD_1")),
    case(&["mkudffs"], "mkudffs --blocksize=512 $F", 16, "udf", "udf file system", None),
    case(&["mkudffs"], "mkudffs --blocksize=4096 $F", 16, "udf", "udf file system", None),
    case(&["cryptsetup"], "echo x | cryptsetup luksFormat --type luks1", 16, "crypto_LUKS", "LUKS1 encrypted volume", None),
    case(&["cryptsetup"], "echo x | cryptsetup luksFormat --type luks2 --label geheim --pbkdf pbkdf2", 32, "crypto_LUKS",
        "LUKS2 encrypted volume", Some("geheim")),
    case(&["mkfs.jffs2"], "mkfs.jffs2 -l -e 64KiB -d $D -o $F", 0, "jffs2", "jffs2 file system", None),
    case(&["mkfs.jffs2"], "mkfs.jffs2 -b -e 64KiB -d $D -o $F", 0, "jffs2", "jffs2 file system", None),
    case(&["ubinize"], "cd $D && printf '[u]\nmode=ubi\nvol_id=0\nvol_size=64KiB\nvol_type=dynamic\nvol_name=v\n' > u.ini \
        && ubinize -o $F -p 128KiB -m 2048 u.ini", 0, "ubi", "UBI volumes", None),
    case(&["sfdisk"], "printf 'label: gpt\n' | sfdisk -q $F", 16, "gpt", "GPT partition table", None),
    case(&["sfdisk"], "printf 'label: dos\n' | sfdisk -q $F", 16, "dos", "MBR partition table (empty)", None),
];

fn names(found: &[Signature]) -> Vec<&str> {
    found.iter().map(|signature| signature.name).collect()
}

#[test]
fn formats_as_their_tools_write_them() {
    for case in CASES {
        if !can_run(false, case.programs) {
            continue;
        }
        let image = Image::new(case.mib);
        let files = tempfile::tempdir().unwrap();
        std::fs::write(files.path().join("file"), "content").unwrap();
        let command =
            if case.programs == ["cryptsetup"] { format!("{} {LUKS}", case.command) } else { case.command.into() };
        image.sh(&format!("D='{}'; {command}", files.path().display()));
        let found = inspect(&image.path).unwrap();
        assert_eq!(names(&found.contents), [case.name], "{command}");
        let signature = &found.contents[0];
        assert_eq!((signature.what.as_str(), signature.label.as_deref()), (case.what, case.label), "{command}");
        assert!(!found.unreadable, "{command}");

        // blkid knows no flash formats, and shows a table apart.
        if !["jffs2", "ubi"].contains(&case.name) && can_run(false, &["blkid"]) {
            let output = run(&format!("blkid -p -o export '{}'", image.path.display()));
            let output = String::from_utf8_lossy(&output.stdout).into_owned();
            let kind = output.lines().find_map(|line| line.strip_prefix("TYPE=").or(line.strip_prefix("PTTYPE=")));
            assert_eq!(kind, Some(case.name), "{command}: {output}");
        }
    }
}

#[test]
fn tables_with_what_is_on_their_partitions() {
    if !can_run(false, &["sfdisk", "mkfs.ext4", "mkswap"]) {
        return;
    }
    let image = Image::new(64);
    image.sh(
        "printf 'label: gpt\nsize=16M, name=\"boot\"\nsize=16M, name=\"root\"\nsize=8M\n' | sfdisk -q $F \
         && truncate -s 16M $F.ext4 && mkfs.ext4 -q -L wurzel $F.ext4 && dd if=$F.ext4 of=$F bs=1M seek=17 conv=notrunc status=none \
         && truncate -s 8M $F.swap && mkswap -q $F.swap && dd if=$F.swap of=$F bs=1M seek=33 conv=notrunc status=none",
    );
    let found = inspect(&image.path).unwrap().contents;
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"GPT partition table: partition 1 "boot" (16.8 MB), partition 2 "root" (16.8 MB, ext4 file system "wurzel"), partition 3 (8.4 MB, swap area)"#);

    // The first table is lost: the one at the end still tells.
    image.sh("dd if=/dev/zero of=$F bs=512 count=34 conv=notrunc status=none");
    let found = inspect(&image.path).unwrap().contents;
    assert_eq!(found[0].what, "GPT partition table (the copy at the end only)");
    assert_eq!(found[0].partitions.len(), 3);
    // Without either table, only the protective MBR would be left; it says that there was one.
    image.sh(
        "printf 'label: gpt\n' | sfdisk -q $F; dd if=/dev/zero of=$F bs=512 seek=1 count=1 conv=notrunc status=none",
    );
    image.sh("truncate -s -512 $F");
    assert_eq!(names(&inspect(&image.path).unwrap().contents), ["PMBR"]);
}

#[test]
fn mbr_with_logical_partitions() {
    if !can_run(false, &["sfdisk", "mkfs.vfat"]) {
        return;
    }
    let image = Image::new(64);
    image.sh(
        "printf 'label: dos\nx1: size=8M, type=c, bootable\nx2: size=40M, type=5\nx5: size=8M\nx6: size=8M, type=82\nx7: size=8M\n' | sfdisk -q $F \
         && truncate -s 8M $F.vfat && mkfs.vfat -n BOOT $F.vfat >&2 && dd if=$F.vfat of=$F bs=1M seek=1 conv=notrunc status=none",
    );
    let found = inspect(&image.path).unwrap().contents;
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"MBR partition table: partition 1 (8.4 MB, FAT12 file system "BOOT"), partition 2 (41.9 MB, extended partition), partition 5 (8.4 MB), partition 6 (8.4 MB), partition 7 (8.4 MB)"#);
    // sfdisk's own list.
    let listed = image.sh("sfdisk -l -o Device $F | grep -c 'disk.img[0-9]'");
    assert_eq!(listed, found[0].partitions.len().to_string());
}

#[test]
fn tables_of_4096_byte_sectors() {
    if !can_run(true, &["losetup", "sfdisk"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach_with("--sector-size 4096");
    support::sh(&format!(
        "printf 'label: gpt\nsize=16M\n' | sfdisk -q --no-reread --no-tell-kernel {}",
        device.node.display()
    ));
    let found = inspect(&device.node).unwrap().contents;
    assert_eq!(names(&found), ["gpt"]);
    assert_eq!((found[0].partitions[0].start_bytes, found[0].partitions[0].size_bytes), (1 << 20, 16 << 20));
}

#[test]
fn volumes_whose_tools_want_a_device() {
    if !can_run(true, &["losetup", "pvcreate", "make-bcache", "blkid"]) {
        return;
    }
    for (command, name) in [("pvcreate -ff -y", "LVM2_member"), ("make-bcache -B", "bcache")] {
        let image = Image::new(32);
        let device = image.attach();
        support::sh(&format!("{command} {}", device.node.display()));
        assert_eq!(names(&inspect(&device.node).unwrap().contents), [name]);
        assert_eq!(support::sh(&format!("blkid -p -o value -s TYPE {}", device.node.display())), name);
    }
}

/// Superblocks of md, which needs a kernel with md to make one, as `md_p.h` has them.
#[test]
fn md_members_of_all_versions() {
    let blkid = can_run(false, &["blkid"]);
    let size: u64 = (16 << 20) + 512 * 3;
    let v1 = |at: u64| {
        let mut superblock = vec![0_u8; 256];
        superblock[..8].copy_from_slice(b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00");
        superblock[32..40].copy_from_slice(b"host:arr");
        superblock[128..136].copy_from_slice(&0_u64.to_le_bytes());
        superblock[144..152].copy_from_slice(&(at / 512).to_le_bytes());
        // The check sum is that of Linux: the sum of all words, folded.
        let sum: u64 = superblock.chunks(4).map(|w| u64::from(u32::from_le_bytes(w.try_into().unwrap()))).sum();
        superblock[216..220].copy_from_slice(&(((sum & 0xffff_ffff) + (sum >> 32)) as u32).to_le_bytes());
        superblock
    };
    let at_end = (size / 512 - 16) / 8 * 8 * 512;
    let v0_90 = b"\xfc\x4e\x2b\xa9\x00\x00\x00\x00\x5a\x00\x00\x00".to_vec();
    let cases = [
        ("1.1", 0, v1(0)),
        ("1.2", 4096, v1(4096)),
        ("1.0", at_end, v1(at_end)),
        ("0.90", size / 65536 * 65536 - 65536, v0_90),
    ];
    for (version, at, superblock) in cases {
        let image = Image::new(0);
        let file = std::fs::OpenOptions::new().write(true).open(&image.path).unwrap();
        file.set_len(size).unwrap();
        file.write_all_at(&superblock, at).unwrap();
        let found = inspect(&image.path).unwrap().contents;
        assert_eq!(names(&found), ["linux_raid_member"], "{version}");
        assert_eq!(found[0].what, format!("md array member (superblock {version})"));
        assert_eq!(found[0].label.as_deref(), (version != "0.90").then_some("host:arr"));
        if blkid {
            assert_eq!(image.sh("blkid -p -o value -s TYPE $F"), "linux_raid_member", "{version}");
        }
    }
}

/// A pool's member as the ZFS specification lays it out.
#[test]
fn zfs_members() {
    let blkid = can_run(false, &["blkid"]);
    for (magic, version) in
        [(0x00ba_b10c_u64.to_le_bytes(), 5000_u64.to_le_bytes()), (0x00ba_b10c_u64.to_be_bytes(), 28_u64.to_be_bytes())]
    {
        let image = Image::new(64);
        let file = std::fs::OpenOptions::new().write(true).open(&image.path).unwrap();
        // blkid wants several uberblocks in a label.
        for n in 0..16 {
            file.write_all_at(&magic, (128 + n) << 10).unwrap();
            file.write_all_at(&version, ((128 + n) << 10) + 8).unwrap();
        }
        assert_eq!(names(&inspect(&image.path).unwrap().contents), ["zfs_member"]);
        if blkid {
            assert_eq!(image.sh("blkid -p -o value -s TYPE $F"), "zfs_member");
        }
    }
}

/// The first bytes of a littlefs 2.0 block: revision count, the tag of the superblock, the magic.
#[test]
fn littlefs() {
    let block = b"\x02\x00\x00\x00\xf0\x0f\xff\xf7littlefs/\xe0\x00\x10".as_slice();
    assert_eq!(names(&probe(&Medium::new(&block, block.len() as u64))), ["littlefs"]);
}
