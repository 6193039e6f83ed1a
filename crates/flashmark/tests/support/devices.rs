//! Loop devices and mounts that are undone when dropped, also on panic.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Scratch, sh, try_sh};

/// A file of zeros in a directory of its own.
pub struct Image {
    _dir: Scratch,
    pub path: PathBuf,
}

impl Image {
    pub fn new(bytes: u64) -> Self {
        let dir = Scratch::new();
        let path = dir.join("disk.img");
        File::create(&path).unwrap().set_len(bytes).unwrap();
        Self { _dir: dir, path }
    }

    /// An image with an ext4 file system labelled `holiday`.
    pub fn ext4(bytes: u64) -> Self {
        let image = Self::new(bytes);
        sh(&format!("mkfs.ext4 -q -F -L holiday {}", image.path.display()));
        image
    }

    /// Cuts it off or makes it longer, under whatever uses it.
    pub fn set_len(&self, bytes: u64) {
        OpenOptions::new().write(true).open(&self.path).unwrap().set_len(bytes).unwrap();
    }
}

/// A loop device and its image.
pub struct Loop {
    pub node: PathBuf,
    pub image: Image,
}

impl Loop {
    pub fn new(image: Image) -> Self {
        let node = sh(&format!("losetup -f --show {}", image.path.display())).into();
        Self { node, image }
    }

    pub fn name(&self) -> &str {
        self.node.file_name().unwrap().to_str().unwrap()
    }

    /// Takes the medium out while the device stays, as in a card reader: from one moment to the next its size is 0.
    pub fn take_medium_out(&self) {
        // An offset at the image's end leaves nothing. In struct loop_info64 (linux/loop.h) it stands at byte 24.
        let script = format!(
            "import fcntl, os, struct\n\
             device = os.open('{}', os.O_RDONLY)\n\
             info = bytearray(232)\n\
             fcntl.ioctl(device, 0x4C05, info)  # LOOP_GET_STATUS64\n\
             struct.pack_into('=Q', info, 24, os.path.getsize('{}'))\n\
             fcntl.ioctl(device, 0x4C04, info)  # LOOP_SET_STATUS64\n",
            self.node.display(),
            self.image.path.display()
        );
        sh(&format!("python3 -c \"{script}\""));
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        try_sh(&format!("losetup -d {}", self.node.display()));
    }
}

/// A loop device with a number that `losetup -f` never gives, so that nobody takes it when it is free.
pub struct OwnLoop {
    number: u32,
    pub node: PathBuf,
    _image: Image,
}

/// The programs that [`OwnLoop`] and [`Loop::take_medium_out`] need.
pub const OWN_LOOP_NEEDS: &[&str] = &["losetup", "python3"];

impl OwnLoop {
    pub fn new(image: Image) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Minor numbers have 20 bits.
        let number = 1000 + (std::process::id() % 30_000) * 30 + COUNT.fetch_add(1, Ordering::Relaxed);
        let node = PathBuf::from(format!("/dev/loop{number}"));
        let own = Self { number, node, _image: image };
        sh(&own.python("fcntl.ioctl(control, 0x4C80, n)")); // LOOP_CTL_ADD
        sh(&format!("losetup {} {}", own.node.display(), own._image.path.display()));
        own
    }

    /// Detaches the image; the node stays. While the device is open, that happens when it is closed.
    pub fn detach(&self) {
        sh(&format!("losetup -d {}", self.node.display()));
    }

    /// Detaches the image and removes the device with its node, as when a reader is unplugged.
    pub fn unplug(&self) {
        self.detach();
        sh(&self.python(REMOVE));
    }

    /// A shell command that does something to loop device `n` through `control`.
    fn python(&self, command: &str) -> String {
        let start = "import fcntl, os, time\ncontrol = os.open('/dev/loop-control', os.O_RDWR)";
        format!("python3 -c \"{start}\nn = {}\n{command}\n\"", self.number)
    }
}

/// LOOP_CTL_REMOVE, when nobody has it open any more.
const REMOVE: &str = "
for attempt in range(5000):
    try:
        fcntl.ioctl(control, 0x4C81, n)
    except OSError as error:
        if error.errno != 16: raise
        time.sleep(0.001)
    else:
        break
else:
    raise SystemExit('the loop device stays busy')";

impl Drop for OwnLoop {
    fn drop(&mut self) {
        if self.node.exists() {
            try_sh(&format!("losetup -d {}", self.node.display()));
            try_sh(&self.python(REMOVE));
        }
    }
}

/// A mounted file system.
pub struct Mounted {
    at: Scratch,
}

impl Mounted {
    /// Mounts with the options of mount(8).
    pub fn with(options: &str) -> Self {
        let at = Scratch::new();
        sh(&format!("mount {options} {}", at.path().display()));
        Self { at }
    }

    /// A tmpfs of this size, e.g. `4m`.
    pub fn tmpfs(size: &str) -> Self {
        Self::with(&format!("-t tmpfs -o size={size} tmpfs"))
    }

    pub fn path(&self) -> &Path {
        self.at.path()
    }

    /// Takes it out of the tree of directories, though it is in use.
    pub fn unmount_lazily(&self) {
        sh(&format!("umount -l {}", self.path().display()));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let at = self.path().display().to_string();
        try_sh(&format!("umount {at} || umount -l {at}"));
    }
}

/// A mounted ext4 file system on a loop device.
pub struct Ext4 {
    // Undone in this order.
    mounted: Mounted,
    pub device: Loop,
}

/// The programs that [`Ext4`] needs.
pub const EXT4_NEEDS: &[&str] = &["losetup", "mkfs.ext4", "mount"];

impl Ext4 {
    pub fn new(bytes: u64) -> Self {
        Self::mount(Loop::new(Image::ext4(bytes)))
    }

    /// Mounts the file system that is on the device.
    pub fn mount(device: Loop) -> Self {
        let mounted = Mounted::with(&device.node.display().to_string());
        // It is in the way of tests that look for what is left.
        std::fs::remove_dir(mounted.path().join("lost+found")).unwrap();
        Self { mounted, device }
    }

    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}
