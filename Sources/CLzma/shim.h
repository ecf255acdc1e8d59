#ifndef LIVERELAY_CLZMA_SHIM_H
#define LIVERELAY_CLZMA_SHIM_H
#include <lzma.h>
// A macro with a cast, which Swift does not import.
static const uint32_t liverelay_lzma_concatenated = LZMA_CONCATENATED;
#endif
