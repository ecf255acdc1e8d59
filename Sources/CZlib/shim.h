// zlib functions that Swift can call: deflateInit2 is a macro that passes the version and size of the header it was
// compiled with.
#ifndef LIVERELAY_CZLIB_SHIM_H
#define LIVERELAY_CZLIB_SHIM_H
#include <zlib.h>
static inline int liverelay_deflate_init(z_streamp stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

// inflateInit2 is such a macro too.
static inline int liverelay_inflate_init(z_streamp stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
#endif
