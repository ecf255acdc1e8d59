#include "CFuzzer.h"

#include <errno.h>
#include <stdlib.h>

// libFuzzer's entry point. Weak: builds without -sanitize=fuzzer do not link libFuzzer.
__attribute__((weak)) int LLVMFuzzerRunDriver(int *argc, char ***argv, FuzzInput input);

int CFuzzerRun(int *argc, char ***argv, FuzzInput input) {
    return LLVMFuzzerRunDriver ? LLVMFuzzerRunDriver(argc, argv, input) : CFuzzerNotLinked;
}

// AddressSanitizer's hooks, weak for the same reason.
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*allocated)(const volatile void *, size_t), void (*freed)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *block);

// Of the thread that runs the inputs; libFuzzer's own threads do not count.
static __thread int isCounting;
static __thread int64_t heldBytes;
static __thread CFuzzerCount count;
// What libav clears in its contexts is no copy of ours: a decoder of AAC makes up to forty blocks of 535 kB.
static __thread int isForeign;

// libav allocates by this function, and Swift by malloc.
__attribute__((weak)) int __interceptor_posix_memalign(void **block, size_t alignment, size_t size);
int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!__interceptor_posix_memalign) return (*block = aligned_alloc(alignment, size)) ? 0 : ENOMEM;
    isForeign = 1;
    int status = __interceptor_posix_memalign(block, alignment, size);
    isForeign = 0;
    return status;
}

static void allocated(const volatile void *block, size_t size) {
    if (!isCounting || !block) return;
    heldBytes += (int64_t)size;
    count.allocations += 1;
    if (!isForeign) count.copiedBytes += (int64_t)size;
    if (heldBytes > count.peakBytes) count.peakBytes = heldBytes;
}

static void freed(const volatile void *block) {
    if (isCounting && block) heldBytes -= (int64_t)__sanitizer_get_allocated_size(block);
}

// Smaller copies are values that are passed on, for which steps stand.
static const size_t leastCopy = 1024;

// The compiler calls these at each comparison and copy of instrumented code. The linker's --wrap leads the calls here.
// A tail call keeps the return address, by which libFuzzer tells comparisons apart.
#define WRAP_COMPARISON(name, type)                                                          \
    __attribute__((weak)) void __real___sanitizer_cov_trace_##name(type left, type right);  \
    void __wrap___sanitizer_cov_trace_##name(type left, type right);                         \
    void __wrap___sanitizer_cov_trace_##name(type left, type right) {                        \
        count.comparisons += isCounting;                                                     \
        __attribute__((musttail)) return __real___sanitizer_cov_trace_##name(left, right);   \
    }
#define WRAP_COPY(name)                                                                      \
    __attribute__((weak)) void *__real___asan_##name(void *to, const void *from, size_t size); \
    void *__wrap___asan_##name(void *to, const void *from, size_t size);                     \
    void *__wrap___asan_##name(void *to, const void *from, size_t size) {                    \
        if (isCounting && size >= leastCopy) count.copiedBytes += (int64_t)size;             \
        __attribute__((musttail)) return __real___asan_##name(to, from, size);               \
    }

WRAP_COMPARISON(cmp1, uint8_t)
WRAP_COMPARISON(cmp2, uint16_t)
WRAP_COMPARISON(cmp4, uint32_t)
WRAP_COMPARISON(cmp8, uint64_t)
WRAP_COMPARISON(const_cmp1, uint8_t)
WRAP_COMPARISON(const_cmp2, uint16_t)
WRAP_COMPARISON(const_cmp4, uint32_t)
WRAP_COMPARISON(const_cmp8, uint64_t)
WRAP_COPY(memcpy)
WRAP_COPY(memmove)

int CFuzzerBeginCount(void) {
    static int isInstalled;
    if (!__sanitizer_install_malloc_and_free_hooks) return 0;
    if (!isInstalled) isInstalled = __sanitizer_install_malloc_and_free_hooks(allocated, freed) > 0;
    heldBytes = 0;
    count = (CFuzzerCount){0, 0, 0, 0};
    isCounting = isInstalled;
    return isInstalled;
}

CFuzzerCount CFuzzerEndCount(void) {
    isCounting = 0;
    return count;
}
