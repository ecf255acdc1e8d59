// A function of glibc 2.34 and later that its header declares only with _GNU_SOURCE, which Swift does not define.
#ifndef LIVERELAY_CSPAWN_SHIM_H
#define LIVERELAY_CSPAWN_SHIM_H
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
#endif
