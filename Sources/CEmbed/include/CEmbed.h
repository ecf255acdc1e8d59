// Files that are part of the program: the web page and the API's description.
#ifndef LIVERELAY_CEMBED_H
#define LIVERELAY_CEMBED_H
#include <stddef.h>

struct liverelay_embedded_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

// The file of that name, without its folder; NULL if there is none.
const struct liverelay_embedded_file *liverelay_embedded_file(const char *name);
#endif
