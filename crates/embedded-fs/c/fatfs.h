/* What a compiled variant of FatFs offers; `src/fatfs/ffi.rs` declares the same. */
#ifndef FLASHMARK_FATFS_H
#define FLASHMARK_FATFS_H

#include <stddef.h>
#include <stdint.h>

/* The device below a volume. The functions return 0 for success. `is_data` tells file content from metadata. */
struct fatfs_host {
    void *context;
    int32_t (*read)(void *context, int32_t is_data, uint8_t *buffer, uint32_t sector, uint32_t count);
    int32_t (*write)(void *context, int32_t is_data, const uint8_t *buffer, uint32_t sector, uint32_t count);
    int32_t (*sync)(void *context);
    int32_t (*trim)(void *context, uint32_t first_sector, uint32_t last_sector);
    /* Told after a read or write of a file: what was copied between the caller's buffer and one of FatFs. */
    void (*copied)(void *context, uint64_t bytes);
    uint32_t sector_bytes;
    uint32_t sector_count;
};

struct fatfs_format {
    uint32_t format; /* FM_* */
    uint32_t fats;
    uint32_t align_sectors;
    uint32_t root_entries;
    uint32_t cluster_bytes;
};

struct fatfs_info {
    uint32_t type; /* FS_*; 0 while not mounted */
    uint32_t cluster_sectors;
    uint32_t clusters;
};

/* The longest name in UTF-8 or in the code page, with its end. */
#define FATFS_NAME_BYTES 768

struct fatfs_entry {
    uint64_t size_bytes;
    uint32_t attributes; /* AM_* */
    uint8_t name[FATFS_NAME_BYTES];
};

struct fatfs_volume;
struct fatfs_file;
struct fatfs_directory;

/* All results of type int32_t are FRESULTs. A null volume, file or directory from a `new` means no memory. */
struct fatfs_calls {
    size_t volume_bytes; /* RAM of a mounted volume without its sector buffer */
    size_t file_bytes;   /* RAM of an open file without its sector buffer */
    struct fatfs_volume *(*volume_new)(const struct fatfs_host *host);
    void (*volume_free)(struct fatfs_volume *volume);
    int32_t (*format)(struct fatfs_volume *volume, const struct fatfs_format *format, void *work, uint32_t bytes);
    int32_t (*mount)(struct fatfs_volume *volume);
    void (*unmount)(struct fatfs_volume *volume);
    void (*info)(struct fatfs_volume *volume, struct fatfs_info *info);
    int32_t (*free_clusters)(struct fatfs_volume *volume, uint32_t *clusters);
    struct fatfs_file *(*file_new)(void);
    void (*file_free)(struct fatfs_file *file);
    int32_t (*open)(struct fatfs_volume *volume, struct fatfs_file *file, const char *path, uint32_t mode);
    int32_t (*link_map)(struct fatfs_volume *volume, struct fatfs_file *file, uint32_t *table, uint32_t words);
    int32_t (*close)(struct fatfs_volume *volume, struct fatfs_file *file);
    int32_t (*read)(struct fatfs_volume *volume, struct fatfs_file *file, void *buffer, uint32_t bytes, uint32_t *done);
    int32_t (*write)(struct fatfs_volume *volume, struct fatfs_file *file, const void *data, uint32_t bytes,
                     uint32_t *done);
    int32_t (*seek)(struct fatfs_volume *volume, struct fatfs_file *file, uint64_t position);
    int32_t (*truncate)(struct fatfs_volume *volume, struct fatfs_file *file);
    int32_t (*sync)(struct fatfs_volume *volume, struct fatfs_file *file);
    int32_t (*expand)(struct fatfs_volume *volume, struct fatfs_file *file, uint64_t bytes);
    uint64_t (*position)(const struct fatfs_file *file);
    uint64_t (*size)(const struct fatfs_file *file);
    int32_t (*remove)(struct fatfs_volume *volume, const char *path);
    int32_t (*rename)(struct fatfs_volume *volume, const char *from, const char *to);
    int32_t (*mkdir)(struct fatfs_volume *volume, const char *path);
    int32_t (*stat)(struct fatfs_volume *volume, const char *path, struct fatfs_entry *entry);
    struct fatfs_directory *(*directory_new)(void);
    void (*directory_free)(struct fatfs_directory *directory);
    int32_t (*directory_open)(struct fatfs_volume *volume, struct fatfs_directory *directory, const char *path);
    /* An empty name ends the directory. */
    int32_t (*directory_read)(struct fatfs_volume *volume, struct fatfs_directory *directory,
                              struct fatfs_entry *entry);
    int32_t (*directory_close)(struct fatfs_volume *volume, struct fatfs_directory *directory);
};

#endif
