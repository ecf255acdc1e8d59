#include "CFuzzer.h"

// libFuzzer's entry point. Weak: builds without -sanitize=fuzzer do not link libFuzzer.
__attribute__((weak)) int LLVMFuzzerRunDriver(int *argc, char ***argv, FuzzInput input);

int CFuzzerRun(int *argc, char ***argv, FuzzInput input) {
    return LLVMFuzzerRunDriver ? LLVMFuzzerRunDriver(argc, argv, input) : CFuzzerNotLinked;
}
