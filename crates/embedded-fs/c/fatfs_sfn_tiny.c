#define FATFS_VARIANT sfn_tiny
#define FATFS_LFN 0
#define FATFS_TINY 1
#include "fatfs_variant.h"
