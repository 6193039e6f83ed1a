/* littlefs as it is, with its assertions turned into errors and every call bounded in its work. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "littlefs.h"
#include "littlefs_names.h"

static void assertion_failed(void);

#define LFS_ASSERT(test) ((test) ? (void)0 : assertion_failed())
#define LFS_NO_DEBUG
#define LFS_NO_WARN
#define LFS_NO_ERROR
#define LFS_MULTIVERSION

/* Every loop of littlefs that follows pointers on the device checks what it reads with lfs_crc, or reads the device:
 * there its work is counted. */
#define lfs_crc flashmark_lfs_crc_counted
#include "lfs.c"
#undef lfs_crc
#define lfs_crc flashmark_lfs_crc
uint32_t lfs_crc(uint32_t crc, const void *buffer, size_t size);
#include "lfs_util.c"

enum phase {
    PHASE_OTHER,
    PHASE_CONTENT, /* read, write, seek, truncate: they allocate and erase blocks for content only */
    PHASE_SYNC,    /* sync, close: content first, then the directory */
};

struct littlefs_volume {
    lfs_t lfs;
    struct lfs_config config;
    struct littlefs_host host;
    jmp_buf escape;
    int32_t broken;
    uint64_t work_left_bytes;
    enum phase phase;
    const lfs_file_t *file; /* the file of the call, outside PHASE_OTHER */
    const uint8_t *caller;  /* the caller's buffer in a read */
    uint32_t caller_bytes;
    uint32_t direct_bytes;  /* what was read into it from the device directly */
};

struct littlefs_file {
    lfs_file_t file;
    struct lfs_file_config config;
    struct lfs_attr attribute;
    uint64_t mtime;
    uint8_t cache[];
};

struct littlefs_directory {
    lfs_dir_t dir;
};

static _Thread_local struct littlefs_volume *current;

static void escape_with(int32_t reason) {
    current->broken = reason;
    longjmp(current->escape, 1);
}

static void assertion_failed(void) { escape_with(LITTLEFS_ASSERTION); }

static void count_work(uint64_t bytes) {
    if (bytes > current->work_left_bytes) escape_with(LITTLEFS_ENDLESS);
    current->work_left_bytes -= bytes;
}

uint32_t flashmark_lfs_crc_counted(uint32_t crc, const void *buffer, size_t size) {
    count_work(size + 16);
    return flashmark_lfs_crc(crc, buffer, size);
}

/* Runs `call` in the volume; `bytes` is what it moves at most. No frame but littlefs's and this file's is left by
 * the longjmp, and littlefs owns no memory then, as all buffers are given to it. */
#define RUN(volume_, phase_, file_, bytes_, call_)                                                                    \
    do {                                                                                                              \
        struct littlefs_volume *const outer = current;                                                                \
        int32_t result;                                                                                               \
        if ((volume_)->broken) return LITTLEFS_BROKEN;                                                                \
        current = (volume_);                                                                                          \
        allow_work((volume_), (bytes_));                                                                              \
        (volume_)->phase = (phase_);                                                                                  \
        (volume_)->file = (file_);                                                                                    \
        if (setjmp((volume_)->escape) == 0) {                                                                         \
            result = (int32_t)(call_);                                                                                \
        } else {                                                                                                      \
            result = (volume_)->broken;                                                                               \
        }                                                                                                             \
        (volume_)->phase = PHASE_OTHER;                                                                               \
        (volume_)->file = NULL;                                                                                       \
        (volume_)->caller = NULL;                                                                                     \
        current = outer;                                                                                              \
        return result;                                                                                                \
    } while (0)

/* Sixteen times the device, and as much again for every scan for free blocks. */
static void allow_work(struct littlefs_volume *volume, uint64_t bytes) {
    const struct lfs_config *config = &volume->config;
    uint32_t blocks = config->block_count > volume->lfs.block_count ? config->block_count : volume->lfs.block_count;
    uint64_t device = (uint64_t)blocks * config->block_size;
    uint64_t scans = 1 + bytes / ((uint64_t)config->lookahead_size * 8 * config->block_size);
    volume->work_left_bytes = ((UINT64_C(64) << 20) + 16 * device) * scans + 16 * bytes;
}

static int device_read(const struct lfs_config *config, lfs_block_t block, lfs_off_t offset, void *buffer,
                       lfs_size_t bytes) {
    struct littlefs_volume *volume = config->context;
    const uint8_t *to = buffer;
    count_work(bytes);
    if (volume->caller && to >= volume->caller && to < volume->caller + volume->caller_bytes) {
        volume->direct_bytes += bytes;
    }
    /* Content is read into the file's buffer or the caller's; for a file inside its directory that is still the
     * directory's block. */
    int32_t is_content = volume->file && buffer != volume->lfs.rcache.buffer && buffer != volume->lfs.pcache.buffer &&
                         !(volume->file->flags & LFS_F_INLINE);
    memset(buffer, 0, bytes); /* never hands out what was not written to yet */
    return volume->host.read(volume->host.context, is_content, block, offset, buffer, bytes);
}

static int device_program(const struct lfs_config *config, lfs_block_t block, lfs_off_t offset, const void *data,
                          lfs_size_t bytes) {
    struct littlefs_volume *volume = config->context;
    count_work(bytes);
    return volume->host.program(volume->host.context, block, offset, data, bytes);
}

static int device_erase(const struct lfs_config *config, lfs_block_t block) {
    struct littlefs_volume *volume = config->context;
    count_work(config->prog_size);
    int32_t is_content = volume->phase == PHASE_CONTENT ||
                         (volume->phase == PHASE_SYNC && (volume->file->flags & LFS_F_WRITING));
    return volume->host.erase(volume->host.context, is_content, block);
}

static int device_sync(const struct lfs_config *config) {
    struct littlefs_volume *volume = config->context;
    return volume->host.sync(volume->host.context);
}

void flashmark_littlefs_free(struct littlefs_volume *volume) {
    if (!volume) return;
    free(volume->config.read_buffer);
    free(volume->config.prog_buffer);
    free(volume->config.lookahead_buffer);
    free(volume);
}

/* Null where there is no memory. */
struct littlefs_volume *flashmark_littlefs_new(const struct littlefs_host *host,
                                               const struct littlefs_parameters *parameters) {
    struct littlefs_volume *volume = calloc(1, sizeof(*volume));
    if (!volume) return NULL;
    volume->host = *host;
    volume->config = (struct lfs_config){
        .context = volume,
        .read = device_read,
        .prog = device_program,
        .erase = device_erase,
        .sync = device_sync,
        .read_size = parameters->read_size,
        .prog_size = parameters->prog_size,
        .block_size = parameters->block_size,
        .block_count = parameters->block_count,
        .block_cycles = parameters->block_cycles,
        .cache_size = parameters->cache_size,
        .lookahead_size = parameters->lookahead_size,
        .compact_thresh = parameters->compact_thresh,
        .read_buffer = calloc(1, parameters->cache_size),
        .prog_buffer = calloc(1, parameters->cache_size),
        .lookahead_buffer = calloc(1, parameters->lookahead_size),
        .name_max = parameters->name_max,
        .file_max = parameters->file_max,
        .attr_max = parameters->attr_max,
        .metadata_max = parameters->metadata_max,
        .inline_max = parameters->inline_max,
        .disk_version = parameters->disk_version,
    };
    if (!volume->config.read_buffer || !volume->config.prog_buffer || !volume->config.lookahead_buffer) {
        flashmark_littlefs_free(volume);
        return NULL;
    }
    return volume;
}

static void begin_anew(struct littlefs_volume *volume, uint32_t block_count) {
    memset(&volume->lfs, 0, sizeof(volume->lfs));
    volume->broken = 0;
    volume->config.block_count = block_count;
}

int32_t flashmark_littlefs_format(struct littlefs_volume *volume, uint32_t block_count) {
    begin_anew(volume, block_count);
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_format(&volume->lfs, &volume->config));
}

/* With a `block_count` of 0 the image tells how many blocks it has; `device_blocks` bounds the work meanwhile. */
int32_t flashmark_littlefs_mount(struct littlefs_volume *volume, uint32_t block_count, uint32_t device_blocks) {
    begin_anew(volume, block_count);
    RUN(volume, PHASE_OTHER, NULL, (uint64_t)device_blocks * volume->config.block_size,
        lfs_mount(&volume->lfs, &volume->config));
}

int32_t flashmark_littlefs_unmount(struct littlefs_volume *volume) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_unmount(&volume->lfs));
}

uint32_t flashmark_littlefs_block_count(const struct littlefs_volume *volume) { return volume->lfs.block_count; }

int32_t flashmark_littlefs_used_blocks(struct littlefs_volume *volume) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_fs_size(&volume->lfs));
}

size_t flashmark_littlefs_volume_bytes(void) { return sizeof(lfs_t) + sizeof(struct lfs_config); }

size_t flashmark_littlefs_file_bytes(void) { return sizeof(lfs_file_t) + sizeof(struct lfs_file_config); }

/* The cache holds the largest file that an image can keep inside a directory, too: littlefs commits such a file from
 * its cache, also where the image was made with a larger one. */
struct littlefs_file *flashmark_littlefs_file_new(const struct littlefs_volume *volume) {
    size_t cache = volume->config.cache_size < 0x3ff ? 0x3ff : volume->config.cache_size;
    return calloc(1, sizeof(struct littlefs_file) + cache);
}

void flashmark_littlefs_file_free(struct littlefs_file *file) { free(file); }

/* `attribute`: 0, or the type of an attribute of eight bytes, `mtime`, that is committed with the file. */
int32_t flashmark_littlefs_open(struct littlefs_volume *volume, struct littlefs_file *file, const char *path,
                                int32_t flags, uint8_t attribute, uint64_t mtime) {
    file->config.buffer = file->cache;
    file->mtime = mtime;
    if (attribute) {
        file->attribute = (struct lfs_attr){.type = attribute, .buffer = &file->mtime, .size = sizeof(file->mtime)};
        file->config.attrs = &file->attribute;
        file->config.attr_count = 1;
    }
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_file_opencfg(&volume->lfs, &file->file, path, flags, &file->config));
}

/* The time that the next commit of the file stores. */
void flashmark_littlefs_set_mtime(struct littlefs_file *file, uint64_t mtime) { file->mtime = mtime; }

int32_t flashmark_littlefs_close(struct littlefs_volume *volume, struct littlefs_file *file) {
    RUN(volume, PHASE_SYNC, &file->file, file->file.ctz.size, lfs_file_close(&volume->lfs, &file->file));
}

int32_t flashmark_littlefs_sync(struct littlefs_volume *volume, struct littlefs_file *file) {
    RUN(volume, PHASE_SYNC, &file->file, file->file.ctz.size, lfs_file_sync(&volume->lfs, &file->file));
}

static lfs_ssize_t read_content(struct littlefs_volume *volume, struct littlefs_file *file, void *buffer,
                                uint32_t bytes) {
    volume->caller = buffer;
    volume->caller_bytes = bytes;
    volume->direct_bytes = 0;
    lfs_ssize_t done = lfs_file_read(&volume->lfs, &file->file, buffer, bytes);
    if (done > (lfs_ssize_t)volume->direct_bytes) {
        volume->host.copied(volume->host.context, (uint32_t)done - volume->direct_bytes);
    }
    return done;
}

static lfs_ssize_t write_content(struct littlefs_volume *volume, struct littlefs_file *file, const void *data,
                                 uint32_t bytes) {
    lfs_ssize_t done = lfs_file_write(&volume->lfs, &file->file, data, bytes);
    /* All goes through the file's cache. */
    if (done > 0) volume->host.copied(volume->host.context, (uint32_t)done);
    return done;
}

int32_t flashmark_littlefs_read(struct littlefs_volume *volume, struct littlefs_file *file, void *buffer,
                                uint32_t bytes) {
    RUN(volume, PHASE_CONTENT, &file->file, (uint64_t)bytes + file->file.ctz.size,
        read_content(volume, file, buffer, bytes));
}

int32_t flashmark_littlefs_write(struct littlefs_volume *volume, struct littlefs_file *file, const void *data,
                                 uint32_t bytes) {
    RUN(volume, PHASE_CONTENT, &file->file, (uint64_t)bytes + file->file.ctz.size + file->file.pos,
        write_content(volume, file, data, bytes));
}

int32_t flashmark_littlefs_seek(struct littlefs_volume *volume, struct littlefs_file *file, int32_t position) {
    RUN(volume, PHASE_CONTENT, &file->file, file->file.ctz.size,
        lfs_file_seek(&volume->lfs, &file->file, position, LFS_SEEK_SET));
}

int32_t flashmark_littlefs_truncate(struct littlefs_volume *volume, struct littlefs_file *file, uint32_t bytes) {
    RUN(volume, PHASE_CONTENT, &file->file, (uint64_t)bytes + file->file.ctz.size,
        lfs_file_truncate(&volume->lfs, &file->file, bytes));
}

int32_t flashmark_littlefs_position(struct littlefs_volume *volume, struct littlefs_file *file) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_file_tell(&volume->lfs, &file->file));
}

int32_t flashmark_littlefs_size(struct littlefs_volume *volume, struct littlefs_file *file) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_file_size(&volume->lfs, &file->file));
}

int32_t flashmark_littlefs_remove(struct littlefs_volume *volume, const char *path) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_remove(&volume->lfs, path));
}

int32_t flashmark_littlefs_rename(struct littlefs_volume *volume, const char *from, const char *to) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_rename(&volume->lfs, from, to));
}

int32_t flashmark_littlefs_mkdir(struct littlefs_volume *volume, const char *path) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_mkdir(&volume->lfs, path));
}

static void tell(const struct lfs_info *info, struct littlefs_entry *entry) {
    entry->type = info->type;
    entry->size_bytes = info->size;
    memcpy(entry->name, info->name, LITTLEFS_NAME_BYTES);
    entry->name[LITTLEFS_NAME_BYTES - 1] = 0;
}

static int stat_into(struct littlefs_volume *volume, const char *path, struct littlefs_entry *entry) {
    struct lfs_info info;
    memset(&info, 0, sizeof(info));
    int result = lfs_stat(&volume->lfs, path, &info);
    tell(&info, entry);
    return result;
}

int32_t flashmark_littlefs_stat(struct littlefs_volume *volume, const char *path, struct littlefs_entry *entry) {
    RUN(volume, PHASE_OTHER, NULL, 0, stat_into(volume, path, entry));
}

int32_t flashmark_littlefs_get_attribute(struct littlefs_volume *volume, const char *path, uint8_t type, void *buffer,
                                         uint32_t bytes) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_getattr(&volume->lfs, path, type, buffer, bytes));
}

int32_t flashmark_littlefs_set_attribute(struct littlefs_volume *volume, const char *path, uint8_t type,
                                         const void *data, uint32_t bytes) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_setattr(&volume->lfs, path, type, data, bytes));
}

struct littlefs_directory *flashmark_littlefs_directory_new(void) {
    return calloc(1, sizeof(struct littlefs_directory));
}

void flashmark_littlefs_directory_free(struct littlefs_directory *directory) { free(directory); }

int32_t flashmark_littlefs_directory_open(struct littlefs_volume *volume, struct littlefs_directory *directory,
                                          const char *path) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_dir_open(&volume->lfs, &directory->dir, path));
}

static int read_into(struct littlefs_volume *volume, struct littlefs_directory *directory,
                     struct littlefs_entry *entry) {
    struct lfs_info info;
    memset(&info, 0, sizeof(info));
    int result = lfs_dir_read(&volume->lfs, &directory->dir, &info);
    tell(&info, entry);
    return result;
}

/* 1: an entry, 0: the end. */
int32_t flashmark_littlefs_directory_read(struct littlefs_volume *volume, struct littlefs_directory *directory,
                                          struct littlefs_entry *entry) {
    RUN(volume, PHASE_OTHER, NULL, 0, read_into(volume, directory, entry));
}

int32_t flashmark_littlefs_directory_close(struct littlefs_volume *volume, struct littlefs_directory *directory) {
    RUN(volume, PHASE_OTHER, NULL, 0, lfs_dir_close(&volume->lfs, &directory->dir));
}
