// The part of Apple's C library that the package calls, for type-checking: `Scripts/check-apple`.
//
// Types, order of fields, and numbers are those that POSIX and Apple's manual pages (sections 2 and
// 3) give for 64-bit systems. Nullability decides if Swift sees an optional, so pointers are marked
// where Apple's headers are known to mark them, in <pthread.h>. A new system call of the package
// needs its line here.
#pragma once

// MARK: <sys/types.h>, <stdint.h>

typedef __SIZE_TYPE__ size_t;
typedef long ssize_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;

typedef int32_t dev_t;
typedef uint32_t gid_t;
typedef uint64_t ino_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef int64_t off_t;
typedef int32_t pid_t;
typedef long time_t;
typedef uint32_t uid_t;
typedef uint32_t useconds_t;

// MARK: <errno.h>; `errno` itself is in Darwin.swift

#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ETXTBSY 26
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define ENOSYS 78
#define ELOOP 62
#define ENAMETOOLONG 63
#define EDQUOT 69
#define ESTALE 70
#define ENOLCK 77
#define EOPNOTSUPP 102

// MARK: <fcntl.h>; `open` and `fcntl` are in Darwin.swift

#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_CLOEXEC 0x01000000

#define F_PREALLOCATE 42
#define F_FULLFSYNC 51
#define F_GETPROTECTIONCLASS 63
#define F_SETPROTECTIONCLASS 64
#define F_DUPFD_CLOEXEC 67

#define F_ALLOCATEALL 0x00000004
#define F_PEOFPOSMODE 3

typedef struct fstore {
  unsigned int fst_flags;
  int fst_posmode;
  off_t fst_offset;
  off_t fst_length;
  off_t fst_bytesalloc;
} fstore_t;

#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08

// Both the record of `fcntl` locks and the call that locks a whole file are named so.
struct flock {
  off_t l_start;
  off_t l_len;
  pid_t l_pid;
  short l_type;
  short l_whence;
};
int flock(int descriptor, int operation);

// MARK: <time.h>; the clocks' names are in Darwin.swift

struct timespec {
  time_t tv_sec;
  long tv_nsec;
};

struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  char *tm_zone;
};

typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6 } clockid_t;

int clock_gettime(clockid_t clock, struct timespec *time);
struct tm *gmtime_r(const time_t *time, struct tm *parts);
struct tm *localtime_r(const time_t *time, struct tm *parts);
int nanosleep(const struct timespec *time, struct timespec *rest);
time_t time(time_t *time);

// MARK: <sys/stat.h>, <sys/mount.h>; `S_IFMT` and its values are in Darwin.swift

struct stat {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  struct timespec st_atimespec;
  struct timespec st_mtimespec;
  struct timespec st_ctimespec;
  struct timespec st_birthtimespec;
  off_t st_size;
  int64_t st_blocks;
  int32_t st_blksize;
  uint32_t st_flags;
  uint32_t st_gen;
  int32_t st_lspare;
  int64_t st_qspare[2];
};
int stat(const char *path, struct stat *status);
int fstat(int descriptor, struct stat *status);
int lstat(const char *path, struct stat *status);
int fchmod(int descriptor, mode_t mode);
int mkdir(const char *path, mode_t mode);

// Only the fields that something reads, and the room of the others.
struct statfs {
  uint32_t f_bsize;
  int32_t f_iosize;
  uint64_t f_counts[5];
  int32_t f_fsid[2];
  uid_t f_owner;
  uint32_t f_kinds[3];
  char f_fstypename[16];
  char f_mntonname[1024];
  char f_mntfromname[1024];
  uint32_t f_reserved[8];
};
int statfs(const char *path, struct statfs *status);

// MARK: <unistd.h>, <stdio.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define SEEK_SET 0
#define SEEK_END 2
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58
#define _SC_PHYS_PAGES 200

int close(int descriptor);
int fchown(int descriptor, uid_t owner, gid_t group);
int fsync(int descriptor);
int ftruncate(int descriptor, off_t byteCount);
pid_t getpid(void);
int isatty(int descriptor);
int link(const char *path, const char *newPath);
off_t lseek(int descriptor, off_t offset, int origin);
ssize_t pread(int descriptor, void *buffer, size_t byteCount, off_t offset);
ssize_t pwrite(int descriptor, const void *buffer, size_t byteCount, off_t offset);
ssize_t read(int descriptor, void *buffer, size_t byteCount);
ssize_t readlink(const char *path, char *buffer, size_t byteCount);
int rename(const char *path, const char *newPath);
#define RENAME_EXCL 0x00000004
int renamex_np(const char *path, const char *newPath, unsigned int flags);
int rmdir(const char *path);
long sysconf(int name);
int unlink(const char *path);
int usleep(useconds_t microseconds);
ssize_t write(int descriptor, const void *buffer, size_t byteCount);

// MARK: <stdlib.h>, <string.h>, <math.h>

void *calloc(size_t count, size_t byteCount);
void exit(int status) __attribute__((__noreturn__));
void free(void *memory);
int getloadavg(double *loads, int count);
char *getenv(const char *name);
void *malloc(size_t byteCount);
char *mkdtemp(char *pattern);
char *realpath(const char *path, char *buffer);

void *memchr(const void *bytes, int byte, size_t byteCount);
int memcmp(const void *bytes, const void *others, size_t byteCount);
void *memset(void *bytes, int byte, size_t byteCount);
char *strdup(const char *text);
char *strerror(int number);
size_t strlen(const char *text);

double cos(double number);
double exp(double number);
double log(double number);
double log10(double number);
double pow(double base, double exponent);

// MARK: <dirent.h>

typedef struct directory_stream DIR;
struct dirent {
  uint64_t d_ino;
  uint64_t d_seekoff;
  uint16_t d_reclen;
  uint16_t d_namlen;
  uint8_t d_type;
  char d_name[1024];
};
int closedir(DIR *stream);
DIR *opendir(const char *path);
struct dirent *readdir(DIR *stream);

// MARK: <signal.h>; `SIG_IGN` is in Darwin.swift

#define SIGHUP 1
#define SIGINT 2
#define SIGPIPE 13
#define SIGTERM 15
#define SIG_UNBLOCK 2

typedef int sig_atomic_t;
typedef uint32_t sigset_t;
int sigemptyset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int raise(int number);
typedef void (*sig_t)(int);
void (*signal(int number, void (*handler)(int)))(int);

// MARK: <spawn.h>, <sys/wait.h>; `environ` is in Darwin.swift

typedef void *posix_spawn_file_actions_t;
typedef void *posix_spawnattr_t;
int posix_spawn(
    pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]);
pid_t waitpid(pid_t child, int *status, int options);

// MARK: <sys/utsname.h>, <sys/sysctl.h>, <sys/resource.h>, <libproc.h>

struct utsname {
  char sysname[256], nodename[256], release[256], version[256], machine[256];
};
int uname(struct utsname *name);

int sysctlbyname(
    const char *name, void *value, size_t *byteCount, void *newValue, size_t newByteCount);

struct timeval {
  time_t tv_sec;
  int32_t tv_usec;
};
struct rusage {
  struct timeval ru_utime, ru_stime;
  long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock;
  long ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
#define RUSAGE_SELF 0
int getrusage(int process, struct rusage *usage);

typedef void *rusage_info_t;
#define RUSAGE_INFO_V6 6
#define RUSAGE_INFO_CURRENT RUSAGE_INFO_V6
// Only the field that something reads, and the room of the others.
struct rusage_info_v6 {
  uint8_t ri_uuid[16];
  uint64_t ri_numbers[28];
  uint64_t ri_logical_writes;
  uint64_t ri_more[29];
};
typedef struct rusage_info_v6 rusage_info_current;
int proc_pid_rusage(int process, int flavor, rusage_info_t *usage);
int proc_pidpath(int process, void *buffer, uint32_t byteCount);

// MARK: <pthread.h>

struct _opaque_pthread_t {
  long signature;
  void *handlers;
  char opaque[8176];
};
typedef struct _opaque_pthread_t *pthread_t;
typedef struct { long signature; char opaque[56]; } pthread_attr_t;
typedef struct { long signature; char opaque[40]; } pthread_cond_t;
typedef struct { long signature; char opaque[8]; } pthread_condattr_t;
typedef struct { long signature; char opaque[56]; } pthread_mutex_t;
typedef struct { long signature; char opaque[8]; } pthread_mutexattr_t;

int pthread_atfork(void (*_Nullable before)(void), void (*_Nullable parent)(void),
                   void (*_Nullable child)(void));

int pthread_create(pthread_t _Nullable *_Nonnull thread, const pthread_attr_t *_Nullable attributes,
                   void *_Nullable (*_Nonnull body)(void *_Nonnull), void *_Nullable argument);
int pthread_detach(pthread_t _Nonnull thread);
int pthread_join(pthread_t _Nonnull thread, void *_Nullable *_Nullable result);
pthread_t _Nonnull pthread_self(void);

int pthread_cond_broadcast(pthread_cond_t *_Nonnull condition);
int pthread_cond_destroy(pthread_cond_t *_Nonnull condition);
int pthread_cond_init(pthread_cond_t *_Nonnull condition,
                      const pthread_condattr_t *_Nullable attributes);
int pthread_cond_signal(pthread_cond_t *_Nonnull condition);
int pthread_cond_timedwait_relative_np(pthread_cond_t *_Nonnull condition,
                                       pthread_mutex_t *_Nonnull mutex,
                                       const struct timespec *_Nullable time);
int pthread_cond_wait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex);
int pthread_mutex_destroy(pthread_mutex_t *_Nonnull mutex);
int pthread_mutex_init(pthread_mutex_t *_Nonnull mutex,
                       const pthread_mutexattr_t *_Nullable attributes);
int pthread_mutex_lock(pthread_mutex_t *_Nonnull mutex);
int pthread_mutex_unlock(pthread_mutex_t *_Nonnull mutex);

// MARK: More that swift-argument-parser calls, from several headers; `stderr` is in Darwin.swift

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define EX_USAGE 64
#define TIOCGWINSZ 0x40087468UL

typedef struct { int opaque; } FILE;
int putc(int byte, FILE *stream);

int setenv(const char *name, const char *value, int replaces);
int unsetenv(const char *name);

struct winsize {
  unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
