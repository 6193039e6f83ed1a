//! The functions of `c/fatfs.h`, by hand.

#![allow(unsafe_code)]

use core::ffi::{c_char, c_void};

/// `struct fatfs_volume`, whose layout only C knows.
#[repr(C)]
pub struct Volume {
    _opaque: [u8; 0],
}

/// `struct fatfs_file`.
#[repr(C)]
pub struct File {
    _opaque: [u8; 0],
}

/// `struct fatfs_directory`.
#[repr(C)]
pub struct Directory {
    _opaque: [u8; 0],
}

/// `struct fatfs_host`.
#[repr(C)]
pub struct Host {
    pub context: *mut c_void,
    pub read: unsafe extern "C" fn(*mut c_void, i32, *mut u8, u32, u32) -> i32,
    pub write: unsafe extern "C" fn(*mut c_void, i32, *const u8, u32, u32) -> i32,
    pub sync: unsafe extern "C" fn(*mut c_void) -> i32,
    pub trim: unsafe extern "C" fn(*mut c_void, u32, u32) -> i32,
    pub copied: unsafe extern "C" fn(*mut c_void, u64),
    pub sector_bytes: u32,
    pub sector_count: u32,
}

/// `struct fatfs_format`.
#[repr(C)]
pub struct Format {
    pub format: u32,
    pub fats: u32,
    pub align_sectors: u32,
    pub root_entries: u32,
    pub cluster_bytes: u32,
}

/// `struct fatfs_info`.
#[repr(C)]
#[derive(Default)]
pub struct Info {
    pub type_: u32,
    pub cluster_sectors: u32,
    pub clusters: u32,
}

/// `FATFS_NAME_BYTES`.
pub const NAME_BYTES: usize = 768;

/// `struct fatfs_entry`.
#[repr(C)]
pub struct Entry {
    pub size_bytes: u64,
    pub attributes: u32,
    pub name: [u8; NAME_BYTES],
}

/// `struct fatfs_calls`.
#[repr(C)]
pub struct Calls {
    pub volume_bytes: usize,
    pub file_bytes: usize,
    pub volume_new: unsafe extern "C" fn(*const Host) -> *mut Volume,
    pub volume_free: unsafe extern "C" fn(*mut Volume),
    pub format: unsafe extern "C" fn(*mut Volume, *const Format, *mut c_void, u32) -> i32,
    pub mount: unsafe extern "C" fn(*mut Volume) -> i32,
    pub unmount: unsafe extern "C" fn(*mut Volume),
    pub info: unsafe extern "C" fn(*mut Volume, *mut Info),
    pub free_clusters: unsafe extern "C" fn(*mut Volume, *mut u32) -> i32,
    pub file_new: unsafe extern "C" fn() -> *mut File,
    pub file_free: unsafe extern "C" fn(*mut File),
    pub open: unsafe extern "C" fn(*mut Volume, *mut File, *const c_char, u32) -> i32,
    pub link_map: unsafe extern "C" fn(*mut Volume, *mut File, *mut u32, u32) -> i32,
    pub close: unsafe extern "C" fn(*mut Volume, *mut File) -> i32,
    pub read: unsafe extern "C" fn(*mut Volume, *mut File, *mut c_void, u32, *mut u32) -> i32,
    pub write: unsafe extern "C" fn(*mut Volume, *mut File, *const c_void, u32, *mut u32) -> i32,
    pub seek: unsafe extern "C" fn(*mut Volume, *mut File, u64) -> i32,
    pub truncate: unsafe extern "C" fn(*mut Volume, *mut File) -> i32,
    pub sync: unsafe extern "C" fn(*mut Volume, *mut File) -> i32,
    pub expand: unsafe extern "C" fn(*mut Volume, *mut File, u64) -> i32,
    pub position: unsafe extern "C" fn(*const File) -> u64,
    pub size: unsafe extern "C" fn(*const File) -> u64,
    pub remove: unsafe extern "C" fn(*mut Volume, *const c_char) -> i32,
    pub rename: unsafe extern "C" fn(*mut Volume, *const c_char, *const c_char) -> i32,
    pub mkdir: unsafe extern "C" fn(*mut Volume, *const c_char) -> i32,
    pub stat: unsafe extern "C" fn(*mut Volume, *const c_char, *mut Entry) -> i32,
    pub directory_new: unsafe extern "C" fn() -> *mut Directory,
    pub directory_free: unsafe extern "C" fn(*mut Directory),
    pub directory_open: unsafe extern "C" fn(*mut Volume, *mut Directory, *const c_char) -> i32,
    pub directory_read: unsafe extern "C" fn(*mut Volume, *mut Directory, *mut Entry) -> i32,
    pub directory_close: unsafe extern "C" fn(*mut Volume, *mut Directory) -> i32,
}

#[link(name = "flashmark_fatfs", kind = "static")]
unsafe extern "C" {
    static flashmark_fatfs_sfn_calls: Calls;
    static flashmark_fatfs_sfn_tiny_calls: Calls;
    static flashmark_fatfs_lfn_calls: Calls;
    static flashmark_fatfs_lfn_tiny_calls: Calls;
}

/// The functions of a compiled variant.
pub fn calls(long_names: bool, per_file_buffers: bool) -> &'static Calls {
    // SAFETY: C constants of this layout, never written.
    unsafe {
        match (long_names, per_file_buffers) {
            (false, true) => &flashmark_fatfs_sfn_calls,
            (false, false) => &flashmark_fatfs_sfn_tiny_calls,
            (true, true) => &flashmark_fatfs_lfn_calls,
            (true, false) => &flashmark_fatfs_lfn_tiny_calls,
        }
    }
}

pub const FA_READ: u32 = 0x01;
pub const FA_WRITE: u32 = 0x02;
pub const FA_CREATE_NEW: u32 = 0x04;
pub const FA_CREATE_ALWAYS: u32 = 0x08;
pub const FA_OPEN_ALWAYS: u32 = 0x10;

pub const FM_FAT: u32 = 0x01;
pub const FM_FAT32: u32 = 0x02;
pub const FM_EXFAT: u32 = 0x04;
pub const FM_SFD: u32 = 0x08;

pub const AM_DIR: u32 = 0x10;
