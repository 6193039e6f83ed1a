//! The functions of `c/littlefs.c`, by hand.

#![allow(unsafe_code)]

use core::ffi::{c_char, c_void};

/// `struct littlefs_volume`, whose layout only C knows.
#[repr(C)]
pub struct Volume {
    _opaque: [u8; 0],
}

/// `struct littlefs_file`.
#[repr(C)]
pub struct File {
    _opaque: [u8; 0],
}

/// `struct littlefs_directory`.
#[repr(C)]
pub struct Directory {
    _opaque: [u8; 0],
}

/// `struct littlefs_host`.
#[repr(C)]
pub struct Host {
    pub context: *mut c_void,
    pub read: unsafe extern "C" fn(*mut c_void, i32, u32, u32, *mut u8, u32) -> i32,
    pub program: unsafe extern "C" fn(*mut c_void, u32, u32, *const u8, u32) -> i32,
    pub erase: unsafe extern "C" fn(*mut c_void, i32, u32) -> i32,
    pub sync: unsafe extern "C" fn(*mut c_void) -> i32,
    pub copied: unsafe extern "C" fn(*mut c_void, u64),
}

/// `struct littlefs_parameters`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    pub read_size: u32,
    pub prog_size: u32,
    pub block_size: u32,
    pub block_count: u32,
    pub block_cycles: i32,
    pub cache_size: u32,
    pub lookahead_size: u32,
    pub compact_thresh: u32,
    pub name_max: u32,
    pub file_max: u32,
    pub attr_max: u32,
    pub metadata_max: u32,
    pub inline_max: u32,
    pub disk_version: u32,
}

/// `LITTLEFS_NAME_BYTES`.
pub const NAME_BYTES: usize = 256;

/// `struct littlefs_entry`.
#[repr(C)]
pub struct Entry {
    pub type_: u32,
    pub size_bytes: u32,
    pub name: [u8; NAME_BYTES],
}

#[link(name = "flashmark_littlefs", kind = "static")]
unsafe extern "C" {
    pub fn flashmark_littlefs_new(host: *const Host, parameters: *const Parameters) -> *mut Volume;
    pub fn flashmark_littlefs_free(volume: *mut Volume);
    pub fn flashmark_littlefs_format(volume: *mut Volume, block_count: u32) -> i32;
    pub fn flashmark_littlefs_mount(volume: *mut Volume, block_count: u32, device_blocks: u32) -> i32;
    pub fn flashmark_littlefs_unmount(volume: *mut Volume) -> i32;
    pub fn flashmark_littlefs_block_count(volume: *const Volume) -> u32;
    pub fn flashmark_littlefs_used_blocks(volume: *mut Volume) -> i32;
    pub fn flashmark_littlefs_volume_bytes() -> usize;
    pub fn flashmark_littlefs_file_bytes() -> usize;
    pub fn flashmark_littlefs_file_new(volume: *const Volume) -> *mut File;
    pub fn flashmark_littlefs_file_free(file: *mut File);
    pub fn flashmark_littlefs_open(
        volume: *mut Volume,
        file: *mut File,
        path: *const c_char,
        flags: i32,
        attribute: u8,
        mtime: u64,
    ) -> i32;
    pub fn flashmark_littlefs_set_mtime(file: *mut File, mtime: u64);
    pub fn flashmark_littlefs_close(volume: *mut Volume, file: *mut File) -> i32;
    pub fn flashmark_littlefs_sync(volume: *mut Volume, file: *mut File) -> i32;
    pub fn flashmark_littlefs_read(volume: *mut Volume, file: *mut File, buffer: *mut c_void, bytes: u32) -> i32;
    pub fn flashmark_littlefs_write(volume: *mut Volume, file: *mut File, data: *const c_void, bytes: u32) -> i32;
    pub fn flashmark_littlefs_seek(volume: *mut Volume, file: *mut File, position: i32) -> i32;
    pub fn flashmark_littlefs_truncate(volume: *mut Volume, file: *mut File, bytes: u32) -> i32;
    pub fn flashmark_littlefs_position(volume: *mut Volume, file: *mut File) -> i32;
    pub fn flashmark_littlefs_size(volume: *mut Volume, file: *mut File) -> i32;
    pub fn flashmark_littlefs_remove(volume: *mut Volume, path: *const c_char) -> i32;
    pub fn flashmark_littlefs_rename(volume: *mut Volume, from: *const c_char, to: *const c_char) -> i32;
    pub fn flashmark_littlefs_mkdir(volume: *mut Volume, path: *const c_char) -> i32;
    pub fn flashmark_littlefs_stat(volume: *mut Volume, path: *const c_char, entry: *mut Entry) -> i32;
    pub fn flashmark_littlefs_get_attribute(
        volume: *mut Volume,
        path: *const c_char,
        attribute: u8,
        buffer: *mut c_void,
        bytes: u32,
    ) -> i32;
    pub fn flashmark_littlefs_set_attribute(
        volume: *mut Volume,
        path: *const c_char,
        attribute: u8,
        data: *const c_void,
        bytes: u32,
    ) -> i32;
    pub fn flashmark_littlefs_directory_new() -> *mut Directory;
    pub fn flashmark_littlefs_directory_free(directory: *mut Directory);
    pub fn flashmark_littlefs_directory_open(
        volume: *mut Volume,
        directory: *mut Directory,
        path: *const c_char,
    ) -> i32;
    pub fn flashmark_littlefs_directory_read(volume: *mut Volume, directory: *mut Directory, entry: *mut Entry) -> i32;
    pub fn flashmark_littlefs_directory_close(volume: *mut Volume, directory: *mut Directory) -> i32;
}

pub const LFS_ERR_IO: i32 = -5;
pub const LFS_ERR_CORRUPT: i32 = -84;
pub const LFS_ERR_NOATTR: i32 = -61;

pub const LFS_TYPE_REG: u32 = 1;
pub const LFS_TYPE_DIR: u32 = 2;

pub const LFS_O_RDONLY: i32 = 1;
pub const LFS_O_WRONLY: i32 = 2;
pub const LFS_O_CREAT: i32 = 0x100;
pub const LFS_O_EXCL: i32 = 0x200;
pub const LFS_O_TRUNC: i32 = 0x400;
pub const LFS_O_APPEND: i32 = 0x800;

/// `LITTLEFS_ENDLESS`.
pub const ENDLESS: i32 = -1001;
