// A function that glibc's header declares only with _GNU_SOURCE, which Swift does not define.
#ifndef LIVERELAY_CFILESYSTEM_SHIM_H
#define LIVERELAY_CFILESYSTEM_SHIM_H
extern int syncfs(int descriptor);
#endif
