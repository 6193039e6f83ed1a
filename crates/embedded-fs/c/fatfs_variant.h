/* One variant of FatFs: ff.c as it is, its global names made this variant's own, and the state that it keeps for the
 * whole program made each volume's own.
 *
 * ff.c declares its state as
 *     static FATFS *FatFs[FF_VOLUMES];    static FILESEM Files[FF_FS_LOCK];    static WORD Fsid;
 * With the macros below these read as declarations of functions that return pointers to such objects, and every use
 * as a call of them: FatFs[0] means the table of the volume that the running thread is in. So any number of volumes
 * can exist, in any threads, and nothing is shared between two of them. Should another ff.c declare its state in
 * another way, this does not compile.
 */
#include <stdlib.h>
#include <string.h>

#include "fatfs.h"

#define FATFS_PASTE2(variant, name) flashmark_fatfs_##variant##_##name
#define FATFS_PASTE(variant, name) FATFS_PASTE2(variant, name)
#define FATFS_NAME(name) FATFS_PASTE(FATFS_VARIANT, name)

#define f_open FATFS_NAME(f_open)
#define f_close FATFS_NAME(f_close)
#define f_read FATFS_NAME(f_read)
#define f_write FATFS_NAME(f_write)
#define f_lseek FATFS_NAME(f_lseek)
#define f_truncate FATFS_NAME(f_truncate)
#define f_sync FATFS_NAME(f_sync)
#define f_opendir FATFS_NAME(f_opendir)
#define f_closedir FATFS_NAME(f_closedir)
#define f_readdir FATFS_NAME(f_readdir)
#define f_mkdir FATFS_NAME(f_mkdir)
#define f_unlink FATFS_NAME(f_unlink)
#define f_rename FATFS_NAME(f_rename)
#define f_stat FATFS_NAME(f_stat)
#define f_getfree FATFS_NAME(f_getfree)
#define f_getlabel FATFS_NAME(f_getlabel)
#define f_setlabel FATFS_NAME(f_setlabel)
#define f_expand FATFS_NAME(f_expand)
#define f_mount FATFS_NAME(f_mount)
#define f_mkfs FATFS_NAME(f_mkfs)
#define ff_oem2uni FATFS_NAME(ff_oem2uni)
#define ff_uni2oem FATFS_NAME(ff_uni2oem)
#define ff_wtoupper FATFS_NAME(ff_wtoupper)
#define disk_initialize FATFS_NAME(disk_initialize)
#define disk_status FATFS_NAME(disk_status)
#define disk_read FATFS_NAME(disk_read)
#define disk_write FATFS_NAME(disk_write)
#define disk_ioctl FATFS_NAME(disk_ioctl)

#define FatFs (*volumes_of_thread())
#define Files (*locks_of_thread())
#define Fsid (*mount_id_of_thread())

#include "ff.c"
#if FF_USE_LFN
#include "ffunicode.c"
#endif

#define DRIVE "0:"
#define NO_SECTOR ((LBA_t)0xFFFFFFFF)

struct fatfs_volume {
    FATFS fs;
    FATFS *volumes[FF_VOLUMES];
    FILESEM locks[FF_FS_LOCK];
    WORD mount_id;
    struct fatfs_host host;
    BYTE formatting;
    BYTE mounting;
    BYTE in_file;         /* inside f_read or f_write */
    const BYTE *caller;   /* the caller's buffer then */
    UINT caller_bytes;
    UINT direct_bytes;    /* what went between it and the device directly */
    LBA_t window_before;  /* the sector in fs.win when f_read or f_write was called */
    LBA_t window_is_data; /* the sector in fs.win, where it is file content (tiny variants only) */
};

struct fatfs_file {
    FIL fil;
};

struct fatfs_directory {
    DIR dir;
};

static _Thread_local struct fatfs_volume *current;

static FATFS *(*volumes_of_thread())[FF_VOLUMES] { return &current->volumes; }

static FILESEM (*locks_of_thread())[FF_FS_LOCK] { return &current->locks; }

static WORD(*mount_id_of_thread()) { return &current->mount_id; }

static struct fatfs_volume *enter(struct fatfs_volume *volume) {
    struct fatfs_volume *outer = current;
    current = volume;
    return outer;
}

static int32_t leave(struct fatfs_volume *outer, FRESULT result) {
    struct fatfs_volume *volume = current;
    /* A window that has moved on no longer holds file content. */
    if (volume->fs.winsect != volume->window_is_data) volume->window_is_data = NO_SECTOR;
    current = outer;
    return (int32_t)result;
}

#define IN(volume, call)                                                                                              \
    do {                                                                                                              \
        struct fatfs_volume *outer = enter(volume);                                                                   \
        return leave(outer, (call));                                                                                  \
    } while (0)

/* Whether a sector can hold file content at all: it is in the data area and not in exFAT's allocation bitmap. */
static int may_be_data(const FATFS *fs, LBA_t sector) {
    if (fs->fs_type == 0 || sector < fs->database) return 0;
#if FF_FS_EXFAT
    if (fs->fs_type == FS_EXFAT && sector >= fs->bitbase) {
        LBA_t bitmap = ((fs->n_fatent - 2) / 8 + SS(fs)) / SS(fs);
        if (sector - fs->bitbase < bitmap) return 0;
    }
#endif
    return 1;
}

/* FatFs reads and writes file content in the caller's buffer or the file's, all else in the volume's window. Without
 * buffers in the files the window holds both: what f_read and f_write load there is content, and is so still when a
 * later call writes it back. */
static int is_data(const struct fatfs_volume *volume, const BYTE *buffer, LBA_t sector) {
    if (volume->formatting) return 0;
    if (buffer != volume->fs.win) return 1;
#if FF_FS_TINY
    if (!may_be_data(&volume->fs, sector)) return 0;
    if (sector == volume->window_is_data) return 1;
    return volume->in_file && sector != volume->window_before;
#else
    return 0;
#endif
}

static void enter_file(struct fatfs_volume *volume, const void *caller, UINT bytes) {
    volume->in_file = 1;
    volume->caller = caller;
    volume->caller_bytes = bytes;
    volume->direct_bytes = 0;
    volume->window_before = volume->fs.winsect;
}

static void leave_file(struct fatfs_volume *volume, UINT done) {
    volume->in_file = 0;
    if (done > volume->direct_bytes) volume->host.copied(volume->host.context, done - volume->direct_bytes);
#if FF_FS_TINY
    if (volume->fs.winsect != volume->window_before && may_be_data(&volume->fs, volume->fs.winsect)) {
        volume->window_is_data = volume->fs.winsect;
    }
#endif
}

/* The device calls are those of ESP-IDF's components/fatfs/diskio/diskio_wl.c: one for a run of sectors. */

DSTATUS disk_initialize(BYTE drive) { return 0; }

DSTATUS disk_status(BYTE drive) { return 0; }

static int outside(LBA_t sector, UINT count) {
    return sector >= current->host.sector_count || count > current->host.sector_count - sector;
}

static void count_direct(const BYTE *buffer, UINT count) {
    if (current->in_file && buffer >= current->caller && buffer < current->caller + current->caller_bytes) {
        current->direct_bytes += count * current->host.sector_bytes;
    }
}

#if FF_FS_EXFAT
/* Whether a boot sector of exFAT tells of sectors or clusters beyond what the format allows: mounting shifts by these
 * bytes without a look at them. */
static int beyond_exfat(const BYTE *sector) {
    if (memcmp(sector + BS_JmpBoot, "\xEB\x76\x90" "EXFAT   ", 11)) return 0;
    return sector[BPB_BytsPerSecEx] > 12 || sector[BPB_SecPerClusEx] > 25 - sector[BPB_BytsPerSecEx];
}
#endif

DRESULT disk_read(BYTE drive, BYTE *buffer, LBA_t sector, UINT count) {
    const struct fatfs_host *host = &current->host;
    if (outside(sector, count)) return RES_PARERR;
    count_direct(buffer, count);
    if (host->read(host->context, is_data(current, buffer, sector), buffer, sector, count)) return RES_ERROR;
#if FF_FS_EXFAT
    if (current->mounting && beyond_exfat(buffer)) return RES_ERROR;
#endif
    return RES_OK;
}

DRESULT disk_write(BYTE drive, const BYTE *buffer, LBA_t sector, UINT count) {
    const struct fatfs_host *host = &current->host;
    if (outside(sector, count)) return RES_PARERR;
    count_direct(buffer, count);
    return host->write(host->context, is_data(current, buffer, sector), buffer, sector, count) ? RES_ERROR : RES_OK;
}

DRESULT disk_ioctl(BYTE drive, BYTE command, void *value) {
    const struct fatfs_host *host = &current->host;
    switch (command) {
    case CTRL_SYNC:
        return host->sync(host->context) ? RES_ERROR : RES_OK;
    case GET_SECTOR_COUNT:
        *(LBA_t *)value = host->sector_count;
        return RES_OK;
    case GET_SECTOR_SIZE:
        *(WORD *)value = (WORD)host->sector_bytes;
        return RES_OK;
    case CTRL_TRIM:
        return host->trim(host->context, ((LBA_t *)value)[0], ((LBA_t *)value)[1]) ? RES_ERROR : RES_OK;
    default: /* GET_BLOCK_SIZE among them */
        return RES_ERROR;
    }
}

static struct fatfs_volume *volume_new(const struct fatfs_host *host) {
    struct fatfs_volume *volume = calloc(1, sizeof(*volume));
    if (volume) {
        volume->host = *host;
        volume->window_is_data = NO_SECTOR;
    }
    return volume;
}

static void volume_free(struct fatfs_volume *volume) { free(volume); }

static int32_t volume_format(struct fatfs_volume *volume, const struct fatfs_format *format, void *work,
                             uint32_t bytes) {
    MKFS_PARM parameters = {
        .fmt = (BYTE)format->format,
        .n_fat = (BYTE)format->fats,
        .align = format->align_sectors,
        .n_root = format->root_entries,
        .au_size = format->cluster_bytes,
    };
    struct fatfs_volume *outer = enter(volume);
    volume->formatting = 1;
    FRESULT result = f_mkfs(DRIVE, &parameters, work, bytes);
    volume->formatting = 0;
    return leave(outer, result);
}

static int32_t volume_mount(struct fatfs_volume *volume) {
    struct fatfs_volume *outer = enter(volume);
    volume->mounting = 1;
    FRESULT result = f_mount(&volume->fs, DRIVE, 1);
    volume->mounting = 0;
    if (result != FR_OK) f_mount(0, DRIVE, 0);
    return leave(outer, result);
}

static void volume_unmount(struct fatfs_volume *volume) {
    struct fatfs_volume *outer = enter(volume);
    f_mount(0, DRIVE, 0);
    volume->fs.fs_type = 0;
    leave(outer, FR_OK);
}

static void volume_info(struct fatfs_volume *volume, struct fatfs_info *info) {
    info->type = volume->fs.fs_type;
    info->cluster_sectors = volume->fs.csize;
    info->clusters = volume->fs.n_fatent - 2;
}

static int32_t free_clusters(struct fatfs_volume *volume, uint32_t *clusters) {
    struct fatfs_volume *outer = enter(volume);
    FATFS *fs;
    DWORD n = 0;
    FRESULT result = f_getfree(DRIVE, &n, &fs);
    *clusters = n;
    return leave(outer, result);
}

static struct fatfs_file *file_new(void) { return calloc(1, sizeof(struct fatfs_file)); }

static void file_free(struct fatfs_file *file) { free(file); }

static int32_t file_open(struct fatfs_volume *volume, struct fatfs_file *file, const char *path, uint32_t mode) {
    IN(volume, f_open(&file->fil, path, (BYTE)mode));
}

/* Makes the link map that f_lseek(CREATE_LINKMAP) makes, with the same reads of the FAT, but ends where a chain runs
 * in a circle, which f_lseek does not. */
static FRESULT make_link_map(FIL *fp, DWORD *table, DWORD words) {
    FATFS *fs = fp->obj.fs;
    DWORD used = 2, steps = 0, cluster = fp->obj.sclust;
    DWORD *entry = table + 1;
    if (cluster != 0) {
        do {
            DWORD first = cluster, run = 0, previous;
            used += 2;
            do {
                previous = cluster;
                run++;
                if (++steps > fs->n_fatent) return FR_INT_ERR;
                cluster = get_fat(&fp->obj, cluster);
                if (cluster <= 1) return FR_INT_ERR;
                if (cluster == 0xFFFFFFFF) return FR_DISK_ERR;
            } while (cluster == previous + 1);
            if (used <= words) {
                *entry++ = run;
                *entry++ = first;
            }
        } while (cluster < fs->n_fatent);
    }
    if (used > words) return FR_NOT_ENOUGH_CORE;
    *entry = 0;
    table[0] = used;
    fp->cltbl = table;
    return FR_OK;
}

static int32_t file_link_map(struct fatfs_volume *volume, struct fatfs_file *file, uint32_t *table, uint32_t words) {
    IN(volume, make_link_map(&file->fil, table, words));
}

static int32_t file_close(struct fatfs_volume *volume, struct fatfs_file *file) {
    IN(volume, f_close(&file->fil));
}

static int32_t file_read(struct fatfs_volume *volume, struct fatfs_file *file, void *buffer, uint32_t bytes,
                         uint32_t *done) {
    struct fatfs_volume *outer = enter(volume);
    UINT n = 0;
    enter_file(volume, buffer, bytes);
    FRESULT result = f_read(&file->fil, buffer, bytes, &n);
    leave_file(volume, n);
    *done = n;
    return leave(outer, result);
}

static int32_t file_write(struct fatfs_volume *volume, struct fatfs_file *file, const void *data, uint32_t bytes,
                          uint32_t *done) {
    struct fatfs_volume *outer = enter(volume);
    UINT n = 0;
    enter_file(volume, data, bytes);
    FRESULT result = f_write(&file->fil, data, bytes, &n);
    leave_file(volume, n);
    *done = n;
    return leave(outer, result);
}

static int32_t file_seek(struct fatfs_volume *volume, struct fatfs_file *file, uint64_t position) {
    IN(volume, f_lseek(&file->fil, (FSIZE_t)position));
}

static int32_t file_truncate(struct fatfs_volume *volume, struct fatfs_file *file) {
    IN(volume, f_truncate(&file->fil));
}

static int32_t file_sync(struct fatfs_volume *volume, struct fatfs_file *file) { IN(volume, f_sync(&file->fil)); }

static int32_t file_expand(struct fatfs_volume *volume, struct fatfs_file *file, uint64_t bytes) {
    IN(volume, f_expand(&file->fil, (FSIZE_t)bytes, 1));
}

static uint64_t file_position(const struct fatfs_file *file) { return f_tell(&file->fil); }

static uint64_t file_size(const struct fatfs_file *file) { return f_size(&file->fil); }

static int32_t path_remove(struct fatfs_volume *volume, const char *path) { IN(volume, f_unlink(path)); }

static int32_t path_rename(struct fatfs_volume *volume, const char *from, const char *to) {
    IN(volume, f_rename(from, to));
}

static int32_t path_mkdir(struct fatfs_volume *volume, const char *path) { IN(volume, f_mkdir(path)); }

static void tell(const FILINFO *info, struct fatfs_entry *entry) {
    const char *name = (const char *)info->fname;
    size_t length = 0;
    while (length < sizeof(info->fname) && length < FATFS_NAME_BYTES - 1 && name[length]) length++;
    entry->size_bytes = info->fsize;
    entry->attributes = info->fattrib;
    memcpy(entry->name, info->fname, length);
    entry->name[length] = 0;
}

static int32_t path_stat(struct fatfs_volume *volume, const char *path, struct fatfs_entry *entry) {
    struct fatfs_volume *outer = enter(volume);
    FILINFO info = {0};
    FRESULT result = f_stat(path, &info);
    tell(&info, entry);
    return leave(outer, result);
}

static struct fatfs_directory *directory_new(void) { return calloc(1, sizeof(struct fatfs_directory)); }

static void directory_free(struct fatfs_directory *directory) { free(directory); }

static int32_t directory_open(struct fatfs_volume *volume, struct fatfs_directory *directory, const char *path) {
    IN(volume, f_opendir(&directory->dir, path));
}

static int32_t directory_read(struct fatfs_volume *volume, struct fatfs_directory *directory,
                              struct fatfs_entry *entry) {
    struct fatfs_volume *outer = enter(volume);
    FILINFO info = {0};
    FRESULT result = f_readdir(&directory->dir, &info);
    tell(&info, entry);
    return leave(outer, result);
}

static int32_t directory_close(struct fatfs_volume *volume, struct fatfs_directory *directory) {
    IN(volume, f_closedir(&directory->dir));
}

const struct fatfs_calls FATFS_NAME(calls) = {
    .volume_bytes = sizeof(FATFS) - FF_MAX_SS,
#if FF_FS_TINY
    .file_bytes = sizeof(FIL),
#else
    .file_bytes = sizeof(FIL) - FF_MAX_SS,
#endif
    .volume_new = volume_new,
    .volume_free = volume_free,
    .format = volume_format,
    .mount = volume_mount,
    .unmount = volume_unmount,
    .info = volume_info,
    .free_clusters = free_clusters,
    .file_new = file_new,
    .file_free = file_free,
    .open = file_open,
    .link_map = file_link_map,
    .close = file_close,
    .read = file_read,
    .write = file_write,
    .seek = file_seek,
    .truncate = file_truncate,
    .sync = file_sync,
    .expand = file_expand,
    .position = file_position,
    .size = file_size,
    .remove = path_remove,
    .rename = path_rename,
    .mkdir = path_mkdir,
    .stat = path_stat,
    .directory_new = directory_new,
    .directory_free = directory_free,
    .directory_open = directory_open,
    .directory_read = directory_read,
    .directory_close = directory_close,
};
