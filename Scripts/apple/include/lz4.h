// The functions of LZ4 that the package calls, as `lz4.h` declares them: enough to type-check with.
#pragma once

typedef __SIZE_TYPE__ size_t;
typedef union { char opaque[16416]; const unsigned char *dictionary; } LZ4_stream_t;

int LZ4_compress_default(const char *source, char *target, int sourceSize, int targetCapacity);
int LZ4_compress_fast_continue(LZ4_stream_t *stream, const char *source, char *target,
                               int sourceSize, int targetCapacity, int acceleration);
int LZ4_decompress_safe(const char *source, char *target, int sourceSize, int targetCapacity);
int LZ4_decompress_safe_usingDict(const char *source, char *target, int sourceSize,
                                  int targetCapacity, const char *dictionary, int dictionarySize);
LZ4_stream_t *LZ4_initStream(void *memory, size_t size);
int LZ4_loadDict(LZ4_stream_t *stream, const char *dictionary, int dictionarySize);
void LZ4_resetStream_fast(LZ4_stream_t *stream);
