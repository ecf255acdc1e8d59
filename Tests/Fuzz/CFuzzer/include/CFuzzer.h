#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs one input; returns 0.
typedef int (*FuzzInput)(const uint8_t *bytes, size_t count);

/// Result of CFuzzerRun in a build without libFuzzer.
static const int CFuzzerNotLinked = -1;

/// Runs libFuzzer with the options in the arguments, which calls `input` for each input.
int CFuzzerRun(int *argc, char ***argv, FuzzInput input);
