#define FATFS_VARIANT lfn
#define FATFS_LFN 1
#define FATFS_TINY 0
#include "fatfs_variant.h"
