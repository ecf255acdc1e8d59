#include "CLibAV.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// Other major versions lay their structures out differently.
struct liverelay_libav_names liverelay_libav_compiled(void) {
    return (struct liverelay_libav_names){
        .avutil = "libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR),
        .swresample = "libswresample.so." AV_STRINGIFY(LIBSWRESAMPLE_VERSION_MAJOR),
        .avcodec = "libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR),
    };
}

static struct liverelay_libav_failure failure_of(const char *library) {
    struct liverelay_libav_failure failure = {.library = library};
    const char *detail = dlerror();
    snprintf(failure.detail, sizeof failure.detail, "%s", detail ? detail : "");
    return failure;
}

struct liverelay_libav_failure liverelay_libav_open(
    const struct liverelay_libav_names *names, struct liverelay_libav *functions) {
    // RTLD_NOW: libraries that do not fit one another fail here, not at a later call. RTLD_LOCAL: the libraries that
    // libavcodec needs do not take the place of symbols of this process.
#define OPEN(library) \
    void *library = dlopen(names->library, RTLD_NOW | RTLD_LOCAL); \
    if (!library) return failure_of(names->library);
    // libavcodec comes first: its package brings the others.
    OPEN(avcodec)
    OPEN(swresample)
    OPEN(avutil)
#undef OPEN
#define FIND(library, name) \
    functions->name = (__typeof__(functions->name))dlsym(library, #name); \
    if (!functions->name) return failure_of(names->library);
    LIVERELAY_LIBAV_FUNCTIONS(FIND)
#undef FIND
    return (struct liverelay_libav_failure){.library = NULL};
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct liverelay_libav loaded;
static struct liverelay_libav_failure load_failure;

static void load(void) {
    const struct liverelay_libav_names names = liverelay_libav_compiled();
    load_failure = liverelay_libav_open(&names, &loaded);
    // libav writes stream errors to standard error. liverelay counts them instead.
    if (!load_failure.library) loaded.av_log_set_level(AV_LOG_QUIET);
}

const struct liverelay_libav *liverelay_libav_load(struct liverelay_libav_failure *failure) {
    pthread_once(&once, load);
    *failure = load_failure;
    return load_failure.library ? NULL : &loaded;
}
