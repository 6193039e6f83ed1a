#define FATFS_VARIANT sfn
#define FATFS_LFN 0
#define FATFS_TINY 0
#include "fatfs_variant.h"
