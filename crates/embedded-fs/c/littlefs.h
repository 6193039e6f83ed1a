/* littlefs behind functions that `src/littlefs/ffi.rs` declares as well. */
#ifndef FLASHMARK_LITTLEFS_H
#define FLASHMARK_LITTLEFS_H

#include <stddef.h>
#include <stdint.h>

/* Results beside LFS_ERR_*: what only a corrupt image leads to. The volume then refuses all but mount and format. */
#define LITTLEFS_ASSERTION (-1000) /* one of littlefs's assertions does not hold */
#define LITTLEFS_ENDLESS (-1001)   /* more work than the device's size accounts for */
#define LITTLEFS_BROKEN (-1002)    /* an earlier call ended with one of these two */

/* The device below a volume; the functions return 0 or a LFS_ERR_*. `is_content` tells that littlefs reads or erases
 * the block for the content of a file. */
struct littlefs_host {
    void *context;
    int32_t (*read)(void *context, int32_t is_content, uint32_t block, uint32_t offset, uint8_t *buffer,
                    uint32_t bytes);
    int32_t (*program)(void *context, uint32_t block, uint32_t offset, const uint8_t *data, uint32_t bytes);
    int32_t (*erase)(void *context, int32_t is_content, uint32_t block);
    int32_t (*sync)(void *context);
    /* Told after a read or write of a file: what was copied between the caller's buffer and one of littlefs. */
    void (*copied)(void *context, uint64_t bytes);
};

/* The fields of lfs_config of the same names. */
struct littlefs_parameters {
    uint32_t read_size;
    uint32_t prog_size;
    uint32_t block_size;
    uint32_t block_count;
    int32_t block_cycles;
    uint32_t cache_size;
    uint32_t lookahead_size;
    uint32_t compact_thresh;
    uint32_t name_max;
    uint32_t file_max;
    uint32_t attr_max;
    uint32_t metadata_max;
    uint32_t inline_max;
    uint32_t disk_version;
};

#define LITTLEFS_NAME_BYTES 256

struct littlefs_entry {
    uint32_t type; /* LFS_TYPE_REG or LFS_TYPE_DIR */
    uint32_t size_bytes;
    uint8_t name[LITTLEFS_NAME_BYTES];
};

struct littlefs_volume;
struct littlefs_file;
struct littlefs_directory;

#endif
