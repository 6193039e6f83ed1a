//! System calls that rustix has no safe wrapper for.
#![allow(unsafe_code, reason = "ioctls and unshare(2), each on memory and descriptors that live through the call")]

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::ioctl::{Opcode, opcode};
use rustix::thread::UnshareFlags;

/// `LOOP_CTL_GET_FREE` and `LOOP_CONFIGURE` of `linux/loop.h`.
const LOOP_CTL_GET_FREE: Opcode = 0x4C82;
const LOOP_CONFIGURE: Opcode = 0x4C0A;

/// `LO_FLAGS_AUTOCLEAR`: the device is taken down when nobody has it open or mounted any more.
const AUTOCLEAR: u32 = 4;
/// `LO_FLAGS_DIRECT_IO`: the page cache of the backing file is passed by, where its file system can.
const DIRECT_IO: u32 = 16;

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_bytes: u32,
    info: LoopInfo64,
    reserved: [u64; 8],
}

/// `struct fscrypt_key_specifier` of `linux/fscrypt.h`; the identifier is a union of 32 bytes.
#[repr(C)]
struct KeySpecifier {
    kind: u32,
    reserved: u32,
    identifier: [u8; 32],
}

/// `struct fscrypt_add_key_arg` with a key behind it.
#[repr(C)]
struct AddKey {
    specifier: KeySpecifier,
    raw_bytes: u32,
    key_id: u32,
    reserved: [u32; 8],
    raw: [u8; KEY_BYTES],
}

/// `struct fscrypt_policy_v2`.
#[repr(C)]
struct PolicyV2 {
    version: u8,
    contents_mode: u8,
    names_mode: u8,
    flags: u8,
    log2_data_unit_bytes: u8,
    reserved: [u8; 3],
    identifier: [u8; IDENTIFIER_BYTES],
}

/// Bytes of an fscrypt master key: the most there can be.
pub(super) const KEY_BYTES: usize = 64;
/// Bytes of a key's identifier.
pub(super) const IDENTIFIER_BYTES: usize = 16;

/// The opcode has the size of the structure without the key.
const ADD_KEY: Opcode =
    opcode::from_components(rustix::ioctl::Direction::ReadWrite, b'f', 23, size_of::<AddKey>() - KEY_BYTES);
/// `_IOR('f', 19, struct fscrypt_policy_v1)`, for policies of both versions.
const SET_POLICY: Opcode = opcode::read::<[u8; 12]>(b'f', 19);

/// `FS_IOC_SHUTDOWN` of the file systems, `_IOR('X', 125, __u32)`.
const SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);
/// Without writing anything out.
const SHUTDOWN_NO_LOG_FLUSH: u32 = 2;

/// # Safety
/// `argument` must be what the driver of the file takes for `request`: a number, or a pointer to memory of the size and
/// kind that it reads and writes.
unsafe fn ioctl(file: impl AsFd, request: Opcode, argument: usize) -> io::Result<libc::c_int> {
    // SAFETY: the descriptor is open while it is borrowed; the rest is the caller's word.
    let result = unsafe { libc::ioctl(file.as_fd().as_raw_fd(), request as _, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Gives the calling thread a mount namespace of its own, with the same mounts.
pub(super) fn unshare_mounts() -> io::Result<()> {
    // SAFETY: descriptors stay shared, which is all that could go wrong.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?)
}

/// The number of a loop device that is free at the moment; one is made if none is.
pub(super) fn free_loop(control: impl AsFd) -> io::Result<u32> {
    // SAFETY: it takes no argument, and gives a number.
    let number = unsafe { ioctl(control, LOOP_CTL_GET_FREE, 0) }?;
    u32::try_from(number).map_err(io::Error::other)
}

/// Puts a file behind a loop device that is free, to be taken down with its last use.
pub(super) fn configure_loop(device: impl AsFd, backing: impl AsFd, block_bytes: u32, name: &[u8]) -> io::Result<()> {
    let fd = u32::try_from(backing.as_fd().as_raw_fd()).map_err(io::Error::other)?;
    let mut file_name = [0; 64];
    // What is too long is cut; the last byte stays 0.
    file_name.iter_mut().take(63).zip(name).for_each(|(to, from)| *to = *from);
    let info = LoopInfo64 {
        device: 0,
        inode: 0,
        rdevice: 0,
        offset: 0,
        size_limit: 0,
        number: 0,
        encrypt_type: 0,
        encrypt_key_size: 0,
        flags: AUTOCLEAR | DIRECT_IO,
        file_name,
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
    let config = LoopConfig { fd, block_bytes, info, reserved: [0; 8] };
    // SAFETY: the driver reads one `struct loop_config`, which this is.
    unsafe { ioctl(device, LOOP_CONFIGURE, (&raw const config).expose_provenance()) }.map(drop)
}

/// Gives a mounted file system a master key of fscrypt, and the name that the kernel has for it.
pub(super) fn add_key(root: impl AsFd, key: &[u8; KEY_BYTES]) -> io::Result<[u8; IDENTIFIER_BYTES]> {
    /// `FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER`.
    const BY_IDENTIFIER: u32 = 2;
    let mut argument = AddKey {
        specifier: KeySpecifier { kind: BY_IDENTIFIER, reserved: 0, identifier: [0; 32] },
        raw_bytes: KEY_BYTES as u32,
        key_id: 0,
        reserved: [0; 8],
        raw: *key,
    };
    // SAFETY: the kernel reads one `struct fscrypt_add_key_arg` with as many bytes behind it as `raw_bytes` says, and
    // writes the identifier into it.
    unsafe { ioctl(root, ADD_KEY, (&raw mut argument).expose_provenance()) }?;
    let mut identifier = [0; IDENTIFIER_BYTES];
    identifier.iter_mut().zip(argument.specifier.identifier).for_each(|(to, from)| *to = from);
    Ok(identifier)
}

/// Has everything in an empty directory encrypted with a key that its file system was given.
pub(super) fn set_policy(directory: impl AsFd, identifier: [u8; IDENTIFIER_BYTES]) -> io::Result<()> {
    /// `FSCRYPT_MODE_AES_256_XTS`, `FSCRYPT_MODE_AES_256_CTS`, `FSCRYPT_POLICY_FLAGS_PAD_32`.
    const XTS: u8 = 1;
    const CTS: u8 = 4;
    const PAD_32: u8 = 3;
    let policy = PolicyV2 {
        version: 2,
        contents_mode: XTS,
        names_mode: CTS,
        flags: PAD_32,
        log2_data_unit_bytes: 0,
        reserved: [0; 3],
        identifier,
    };
    // SAFETY: the kernel reads the version, and then as much as a policy of that version has.
    unsafe { ioctl(directory, SET_POLICY, (&raw const policy).expose_provenance()) }.map(drop)
}

/// Stops a file system at once: what it has not written is lost, and every operation on it fails from now on. Not every
/// file system can.
pub(super) fn shut_down(root: impl AsFd) -> io::Result<()> {
    let how = SHUTDOWN_NO_LOG_FLUSH;
    // SAFETY: the kernel reads one 32-bit number.
    unsafe { ioctl(root, SHUTDOWN, (&raw const how).expose_provenance()) }.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of the kernel's structures.
    #[test]
    fn structures_are_the_kernels() {
        assert_eq!(size_of::<LoopInfo64>(), 232);
        assert_eq!(size_of::<LoopConfig>(), 304);
        assert_eq!(size_of::<AddKey>() - KEY_BYTES, 80);
        assert_eq!(size_of::<PolicyV2>(), 24);
    }

    /// On most architectures.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64", target_arch = "arm"))]
    #[test]
    fn opcodes_are_the_kernels() {
        assert_eq!([ADD_KEY, SET_POLICY, SHUTDOWN].map(u64::from), [0xc050_6617, 0x800c_6613, 0x8004_587d]);
    }
}
