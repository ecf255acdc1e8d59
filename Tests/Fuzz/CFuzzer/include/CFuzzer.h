#pragma once
#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own main, called as a library: takes its options from the arguments and calls `entry` with each input.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*entry)(const uint8_t *bytes, size_t count));
