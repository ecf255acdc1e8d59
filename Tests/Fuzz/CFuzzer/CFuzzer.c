#include "CFuzzer.h"

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
static __thread CFuzzerHeap heap;

static void allocated(const volatile void *block, size_t size) {
    if (!isCounting || !block) return;
    heldBytes += (int64_t)size;
    heap.allocations += 1;
    if (heldBytes > heap.peakBytes) heap.peakBytes = heldBytes;
    if ((int64_t)size > heap.largestBytes) heap.largestBytes = (int64_t)size;
}

static void freed(const volatile void *block) {
    if (isCounting && block) heldBytes -= (int64_t)__sanitizer_get_allocated_size(block);
}

int CFuzzerBeginHeap(void) {
    static int isInstalled;
    if (!__sanitizer_install_malloc_and_free_hooks) return 0;
    if (!isInstalled) isInstalled = __sanitizer_install_malloc_and_free_hooks(allocated, freed) > 0;
    heldBytes = 0;
    heap = (CFuzzerHeap){0, 0, 0};
    isCounting = isInstalled;
    return isInstalled;
}

CFuzzerHeap CFuzzerEndHeap(void) {
    isCounting = 0;
    return heap;
}
