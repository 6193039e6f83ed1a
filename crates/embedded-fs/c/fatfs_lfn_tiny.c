#define FATFS_VARIANT lfn_tiny
#define FATFS_LFN 1
#define FATFS_TINY 1
#include "fatfs_variant.h"
