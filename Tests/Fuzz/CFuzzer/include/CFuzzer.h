#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs one input; returns 0.
typedef int (*FuzzInput)(const uint8_t *bytes, size_t count);

/// Result of CFuzzerRun in a build without libFuzzer.
static const int CFuzzerNotLinked = -1;

/// Runs libFuzzer with the options in the arguments, which calls `input` for each input.
int CFuzzerRun(int *argc, char ***argv, FuzzInput input);

/// What was allocated between two calls.
typedef struct {
    /// The most bytes that were held at once, beyond those held before.
    int64_t peakBytes;
    int64_t allocations;
    /// The largest single allocation.
    int64_t largestBytes;
} CFuzzerHeap;

/// Begins to count the allocations of this thread. Returns 0 in a build without AddressSanitizer, which counts nothing.
int CFuzzerBeginHeap(void);
CFuzzerHeap CFuzzerEndHeap(void);
