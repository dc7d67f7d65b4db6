// As `lz4.h` beside it, for the slow and dense form.
#pragma once

typedef __SIZE_TYPE__ size_t;
typedef union { char opaque[262200]; const unsigned char *dictionary; } LZ4_streamHC_t;

int LZ4_compress_HC_continue(LZ4_streamHC_t *stream, const char *source, char *target,
                             int sourceSize, int targetCapacity);
LZ4_streamHC_t *LZ4_initStreamHC(void *memory, size_t size);
int LZ4_loadDictHC(LZ4_streamHC_t *stream, const char *dictionary, int dictionarySize);
void LZ4_resetStreamHC_fast(LZ4_streamHC_t *stream, int level);
int LZ4_sizeofStateHC(void);
