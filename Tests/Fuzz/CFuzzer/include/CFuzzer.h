#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs one input; returns 0.
typedef int (*FuzzInput)(const uint8_t *bytes, size_t count);

/// Result of CFuzzerRun in a build without libFuzzer.
static const int CFuzzerNotLinked = -1;

/// Runs libFuzzer with the options in the arguments, which calls `input` for each input.
int CFuzzerRun(int *argc, char ***argv, FuzzInput input);

/// What was done between two calls.
typedef struct {
    /// The most bytes that were held at once, beyond those held before.
    int64_t peakBytes;
    int64_t allocations;
    /// Bytes that were allocated, but for those of libav, and those that instrumented code moved, 1 KiB or more at once.
    int64_t copiedBytes;
    /// Comparisons of instrumented code.
    int64_t comparisons;
} CFuzzerCount;

/// Begins to count what this thread does. Returns 0 in a build without AddressSanitizer, which counts nothing.
int CFuzzerBeginCount(void);
CFuzzerCount CFuzzerEndCount(void);
