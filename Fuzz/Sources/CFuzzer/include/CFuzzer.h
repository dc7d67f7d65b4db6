#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with the arguments of the command line; see FuzzerInterface.h of LLVM.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*body)(const uint8_t *data, size_t size));
