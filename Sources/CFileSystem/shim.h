// Functions that glibc's headers declare only with _GNU_SOURCE, which Swift does not define.
#ifndef LIVERELAY_CFILESYSTEM_SHIM_H
#define LIVERELAY_CFILESYSTEM_SHIM_H
#include <sys/uio.h>
extern int syncfs(int descriptor);
extern ssize_t pwritev2(int descriptor, const struct iovec *vectors, int count, off_t offset, int flags);
// RWF_NOWAIT: nothing is written that could not be written at once.
static const int liverelay_write_at_once = 8;
#endif
