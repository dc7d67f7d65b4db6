// The functions of SQLite that the benchmark calls, as its reference manual gives them: enough to
// type-check with.
#pragma once

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef long long sqlite3_int64;
typedef void (*sqlite3_destructor_type)(void *);

#define SQLITE_OK 0
#define SQLITE_ROW 100
#define SQLITE_DONE 101
#define SQLITE_NULL 5
#define SQLITE_OPEN_READWRITE 0x00000002
#define SQLITE_OPEN_CREATE 0x00000004
#define SQLITE_OPEN_NOMUTEX 0x00008000
#define SQLITE_PREPARE_PERSISTENT 0x01
#define SQLITE_CHECKPOINT_PASSIVE 0
#define SQLITE_FCNTL_PERSIST_WAL 10

const char *sqlite3_libversion(void);
const char *sqlite3_errmsg(sqlite3 *);
const char *sqlite3_errstr(int);

int sqlite3_open_v2(const char *path, sqlite3 **, int flags, const char *vfs);
int sqlite3_close(sqlite3 *);
int sqlite3_close_v2(sqlite3 *);
int sqlite3_changes(sqlite3 *);
int sqlite3_exec(sqlite3 *, const char *, int (*row)(void *, int, char **, char **), void *,
                 char **message);
int sqlite3_file_control(sqlite3 *, const char *, int, void *);
int sqlite3_wal_checkpoint_v2(sqlite3 *, const char *, int mode, int *log, int *done);
void *sqlite3_wal_hook(sqlite3 *, int (*hook)(void *, sqlite3 *, const char *, int), void *);

int sqlite3_prepare_v3(sqlite3 *, const char *, int byteCount, unsigned int flags, sqlite3_stmt **,
                       const char **rest);
int sqlite3_step(sqlite3_stmt *);
int sqlite3_reset(sqlite3_stmt *);
int sqlite3_finalize(sqlite3_stmt *);

int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
int sqlite3_bind_null(sqlite3_stmt *, int);
int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int byteCount, void (*)(void *));
int sqlite3_bind_blob(sqlite3_stmt *, int, const void *, int byteCount, void (*)(void *));

int sqlite3_column_bytes(sqlite3_stmt *, int);
sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int);
const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
const void *sqlite3_column_blob(sqlite3_stmt *, int);
int sqlite3_column_type(sqlite3_stmt *, int);
