/* The configuration of FatFs R0.15.
 *
 * What decides on device accesses is as in ESP-IDF's components/fatfs/src/ffconf.h with its default options; a
 * variant sets FATFS_LFN (long names and exFAT) and FATFS_TINY (no buffer in each file).
 */
#define FFCONF_DEF 80286

#define FF_FS_READONLY 0
#define FF_FS_MINIMIZE 0
#define FF_USE_FIND 0
#define FF_USE_MKFS 1
#define FF_USE_FASTSEEK 1 /* in force for files with a link map only */
#define FF_USE_EXPAND 1
#define FF_USE_CHMOD 0
#define FF_USE_LABEL 1
#define FF_USE_FORWARD 0
#define FF_USE_STRFUNC 0
#define FF_PRINT_LLI 0
#define FF_PRINT_FLOAT 0
#define FF_STRF_ENCODE 3

#define FF_CODE_PAGE 437
#if FATFS_LFN
#define FF_USE_LFN 2
#define FF_LFN_UNICODE 2
#define FF_FS_EXFAT 1
#else
#define FF_USE_LFN 0
#define FF_LFN_UNICODE 0
#define FF_FS_EXFAT 0
#endif
#define FF_MAX_LFN 255
#define FF_LFN_BUF 765 /* 255 characters of up to three bytes */
#define FF_SFN_BUF 36
#define FF_FS_RPATH 0

#define FF_VOLUMES 1 /* each instance has its own table of volumes */
#define FF_STR_VOLUME_ID 0
#define FF_MULTI_PARTITION 0
#define FF_MIN_SS 512
#define FF_MAX_SS 4096
#define FF_LBA64 0
#define FF_MIN_GPT 0x10000000
#define FF_USE_TRIM 1

#define FF_FS_TINY FATFS_TINY
/* A fixed time, so that images repeat byte for byte. */
#define FF_FS_NORTC 1
#define FF_NORTC_MON 1
#define FF_NORTC_MDAY 1
#define FF_NORTC_YEAR 2024
#define FF_FS_NOFSINFO 0
/* ESP-IDF's default is 0. The lock makes no device access; without it, writing to a removed file destroys others. */
#define FF_FS_LOCK 32
#define FF_FS_REENTRANT 0
#define FF_FS_TIMEOUT 1000
