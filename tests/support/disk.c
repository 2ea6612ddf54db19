/*
 * Simulates failed reads and syncs, kills and power cuts (LD_PRELOAD).
 * Records every change and sync of a file in $DISK_FOLDER in the folder $DISK_TRACE, which disk-trace.ts reads.
 * $DISK_KILL is the number of the change or sync after which the process kills itself with SIGKILL.
 * $DISK_FAILING_READ ("5") makes the fifth read in the folder fail with EIO, counted since the variable was changed;
 * "5 sector" makes every later read of the same 4 KiB fail, too.
 * $DISK_FAILING_CALL ("5 24") makes the fifth open in the folder fail with error number 24, counted since the variable was
 * changed; "5 0" makes the fifth write write half. Each failure adds the name of its call to the file $DISK_FAILED.
 * While the file $DISK_HANGS exists, a sync does not end. $DISK_FAILS ("wal 2 4,folder 1 1") makes the second to the fourth
 * sync of the WAL file and the first sync of the folder fail with $DISK_ERROR, an error number (default: EIO). "direct 1 1"
 * makes the first direct write fail with EIO; "fallback 1 1" writes it through the page cache, as Linux does while a page
 * is in use: later direct reads of the file find zeros, until the next direct write.
 * While the file $DISK_FAULTS exists, its lines ("write 28 -wal 500 0") make calls fail, here half of 1,000 writes of files whose
 * name ends with "-wal" with error number 28, after 0 ms. "*" is any name; the number 0 only delays. It can change at any time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int lock(void) { return pthread_mutex_lock(&mutex); }
static int unlock(void) { return pthread_mutex_unlock(&mutex); }

/* Returns the name of a path relative to the folder: "" for the folder itself, NULL outside it. */
static const char *name_of(const char *path) {
  const char *folder = getenv("DISK_FOLDER");
  size_t length = folder ? strlen(folder) : 0;
  if (!length || strncmp(path, folder, length) != 0) return NULL;
  return path[length] == '/' ? path + length + 1 : path[length] == 0 ? "" : NULL;
}

static const char *name_of_file(int file, char path[4096]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, 4095);
  if (length < 0) return NULL;
  path[length] = 0;
  /* Of a file that was removed. */
  char *end = strstr(path, " (deleted)");
  if (end) *end = 0;
  return name_of(path);
}

static uint64_t inode_of(int file) {
  struct stat found;
  return fstat(file, &found) == 0 ? found.st_ino : 0;
}

struct record { uint32_t kind, length; uint64_t inode, offset; };

static void trace(char kind, uint64_t inode, uint64_t offset, const void *data, size_t length) {
  static int file = -1;
  /* Each process has its own trace file, because a killed process can leave an incomplete record. */
  for (int process = 0; file < 0; process++) {
    char path[4200];
    const char *folder = getenv("DISK_TRACE");
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%06d", folder, process);
    file = REAL(int, "open", const char *, int, ...)(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }
  struct record head = {kind, length, inode, offset};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)data, length}};
  if (writev(file, parts, 2) != (ssize_t)(sizeof head + length)) abort();
  static int count;
  const char *last = getenv("DISK_KILL");
  if (last && ++count == atoi(last)) kill(getpid(), SIGKILL);
}

enum call { OPEN_FILE, CREATE_FILE, READ, WRITE, TRUNCATE, SYNC, LINK, UNLINK, CHMOD };
static const char *const calls[] = {"open", "create", "read", "write", "truncate", "sync", "link", "unlink", "chmod"};

/* Returns whether $DISK_FAULTS makes a call fail; sets errno. */
static int is_faulty(const char *call, const char *name) {
  const char *path = getenv("DISK_FAULTS");
  int file = path && name ? REAL(int, "open", const char *, int, ...)(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  char text[512], failing[16], suffix[32];
  ssize_t length = REAL(ssize_t, "read", int, void *, size_t)(file, text, sizeof text - 1);
  REAL(int, "close", int)(file);
  text[length > 0 ? length : 0] = 0;
  int error, share, delay, read;
  for (char *rule = text; sscanf(rule, "%15s %d %31s %d %d%n", failing, &error, suffix, &share, &delay, &read) == 5; rule += read) {
    size_t end = strlen(suffix), all = strlen(name);
    if (strcmp(failing, call) || (strcmp(suffix, "*") && (all < end || strcmp(name + all - end, suffix)))) continue;
    if (random() % 1000 >= share) continue;
    usleep(delay * 1000);
    if (error) return errno = error;
  }
  return 0;
}

/* Returns whether this call must fail; sets errno. */
static int call_fails(enum call call, const char *name) {
  static char previous[32];
  static int count;
  int number, error;
  if (is_faulty(calls[call], name)) return 1;
  const char *rule = getenv("DISK_FAILING_CALL"), *report = getenv("DISK_FAILED");
  if (!name || !rule || sscanf(rule, "%d %d", &number, &error) != 2) return 0;
  if (error ? call != OPEN_FILE && call != CREATE_FILE : call != WRITE) return 0;
  lock();
  if (strcmp(previous, rule) != 0) {
    snprintf(previous, sizeof previous, "%s", rule);
    count = 0;
  }
  int fails = ++count == number;
  if (fails && report) {
    int file = REAL(int, "open", const char *, int, ...)(report, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dprintf(file, "%s", calls[call]);
    REAL(int, "close", int)(file);
  }
  unlock();
  if (fails) errno = error;
  return fails;
}

static const char *class_of(const char *name, int is_folder) {
  size_t length = strlen(name);
  if (is_folder) return "folder";
  if (length > 4 && strcmp(name + length - 4, "-wal") == 0) return "wal";
  if (length > 8 && strcmp(name + length - 8, "-journal") == 0) return "journal";
  return "database";
}

static int must_fail(const char *class) {
  static struct { const char *class; int syncs; } counts[] = {{"folder", 0}, {"wal", 0}, {"journal", 0}, {"database", 0}, {"direct", 0}, {"fallback", 0}};
  int count = 0, first, last, read;
  char failing[16];
  for (int i = 0; i < 6; i++) if (strcmp(counts[i].class, class) == 0) count = ++counts[i].syncs;
  const char *rules = getenv("DISK_FAILS");
  for (; rules && sscanf(rules, "%15s %d %d%n", failing, &first, &last, &read) == 3; rules += rules[read] == ',' ? read + 1 : read)
    if (strcmp(failing, class) == 0 && count >= first && count <= last) return 1;
  return 0;
}

static int sync_file(int file, int (*real)(int)) {
  char path[4096];
  struct stat found;
  const char *name = name_of_file(file, path);
  if (!name || fstat(file, &found) != 0) return real(file);
  if (call_fails(SYNC, name)) return -1;
  const char *hangs = getenv("DISK_HANGS");
  struct timespec pause = {0, 10000000L};
  while (hangs && access(hangs, F_OK) == 0) nanosleep(&pause, NULL);
  lock();
  int fails = must_fail(class_of(name, S_ISDIR(found.st_mode)));
  trace(fails ? 'f' : 's', S_ISDIR(found.st_mode) ? 0 : found.st_ino, 0, NULL, 0);
  unlock();
  const char *error = getenv("DISK_ERROR");
  if (fails) errno = error ? atoi(error) : EIO;
  return fails ? -1 : 0;
}

int fsync(int file) { return sync_file(file, REAL(int, "fsync", int)); }
int fdatasync(int file) { return sync_file(file, REAL(int, "fdatasync", int)); }

static int is_direct(int file) {
  char path[4096];
  return name_of_file(file, path) && fcntl(file, F_GETFL) & O_DIRECT;
}

/* The file whose last direct write was one through the page cache. */
static uint64_t fallen_back;

static int must_fail_read(int file, off64_t offset) {
  static char previous[16];
  static int count;
  static uint64_t bad_file;
  static off64_t bad_sector;
  const char *rule = getenv("DISK_FAILING_READ");
  if (!rule) return 0;
  if (strcmp(previous, rule) != 0) {
    snprintf(previous, sizeof previous, "%s", rule);
    count = bad_file = 0;
  }
  if (++count == atoi(rule)) {
    bad_file = inode_of(file);
    bad_sector = offset / 4096;
    return 1;
  }
  return strstr(rule, "sector") && bad_file == inode_of(file) && bad_sector == offset / 4096;
}

ssize_t pread64(int file, void *data, size_t length, off64_t offset) {
  char path[4096];
  if (call_fails(READ, name_of_file(file, path))) return -1;
  lock();
  int fails = name_of_file(file, path) && must_fail_read(file, offset);
  unlock();
  if (fails) {
    errno = EIO;
    return -1;
  }
  ssize_t count = REAL(ssize_t, "pread64", int, void *, size_t, off64_t)(file, data, length, offset);
  if (count > 0 && is_direct(file) && inode_of(file) == fallen_back) memset(data, 0, count);
  return count;
}
ssize_t pread(int file, void *data, size_t length, off_t offset) { return pread64(file, data, length, offset); }

ssize_t read(int file, void *data, size_t length) {
  char path[4096];
  if (call_fails(READ, name_of_file(file, path))) return -1;
  return REAL(ssize_t, "read", int, void *, size_t)(file, data, length);
}

/* Shortens a write that must be short. Returns whether it must fail. */
static int write_fails(int file, size_t *length) {
  char path[4096];
  if (!call_fails(WRITE, name_of_file(file, path))) return 0;
  if (errno != 0) return 1;
  *length = (*length + 1) / 2;
  return 0;
}

static ssize_t record_write(int file, const void *data, off_t offset, ssize_t written) {
  int error = errno;
  char path[4096];
  if (written > 0 && name_of_file(file, path))
    trace(is_direct(file) && inode_of(file) != fallen_back ? 'd' : 'w', inode_of(file), offset, data, written);
  errno = error;
  return written;
}

ssize_t write(int file, const void *data, size_t length) {
  char path[4096];
  /* Without the lock, because a signal handler can write to a pipe during another write of its thread. */
  if (!name_of_file(file, path)) return REAL(ssize_t, "write", int, const void *, size_t)(file, data, length);
  if (write_fails(file, &length)) return -1;
  lock();
  ssize_t written = REAL(ssize_t, "write", int, const void *, size_t)(file, data, length);
  int error = errno;
  /* The offset after the write: with O_APPEND, the write did not start at the previous offset. */
  off_t end = lseek(file, 0, SEEK_CUR);
  errno = error;
  record_write(file, data, end - written, written);
  unlock();
  return written;
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
  if (write_fails(file, &length)) return -1;
  lock();
  if (is_direct(file)) {
    if (must_fail("direct")) {
      unlock();
      errno = EIO;
      return -1;
    }
    fallen_back = must_fail("fallback") ? inode_of(file) : 0;
  }
  ssize_t written = REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)(file, data, length, offset);
  record_write(file, data, offset, written);
  unlock();
  return written;
}
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return pwrite64(file, data, length, offset); }

int ftruncate64(int file, off64_t size) {
  char path[4096];
  if (call_fails(TRUNCATE, name_of_file(file, path))) return -1;
  lock();
  int result = REAL(int, "ftruncate64", int, off64_t)(file, size);
  if (result == 0 && name_of_file(file, path)) trace('t', inode_of(file), size, NULL, 0);
  unlock();
  return result;
}
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int unlink(const char *path) {
  const char *name = name_of(path);
  if (call_fails(UNLINK, name)) return -1;
  lock();
  int result = REAL(int, "unlink", const char *)(path);
  if (result == 0 && name) trace('u', 0, 0, name, strlen(name));
  unlock();
  return result;
}

int link(const char *from, const char *to) {
  const char *name = name_of(to);
  struct stat found;
  if (call_fails(LINK, name)) return -1;
  lock();
  int result = REAL(int, "link", const char *, const char *)(from, to);
  if (result == 0 && name && stat(to, &found) == 0) trace('l', found.st_ino, 0, name, strlen(name));
  unlock();
  return result;
}

static int open_file(const char *path, int flags, mode_t mode) {
  const char *name = name_of(path);
  struct stat found;
  int existed = !name || stat(path, &found) == 0;
  if (call_fails(existed ? OPEN_FILE : CREATE_FILE, name)) return -1;
  lock();
  int file = REAL(int, "open64", const char *, int, ...)(path, flags, mode);
  if (file >= 0 && !existed) trace('c', inode_of(file), 0, name, strlen(name));
  else if (file >= 0 && name && flags & O_TRUNC) trace('t', inode_of(file), 0, NULL, 0);
  unlock();
  return file;
}

int chmod(const char *path, mode_t mode) {
  return call_fails(CHMOD, name_of(path)) ? -1 : REAL(int, "chmod", const char *, mode_t)(path, mode);
}

#define OPEN(function)                             \
  int function(const char *path, int flags, ...) { \
    va_list rest;                                  \
    va_start(rest, flags);                         \
    mode_t mode = va_arg(rest, mode_t);            \
    va_end(rest);                                  \
    return open_file(path, flags, mode);           \
  }
OPEN(open)
OPEN(open64)

static int control(const char *real, int file, int command, void *argument) {
  char path[4096];
  int isLock = (command == F_SETLK || command == F_SETLKW || command == F_GETLK) && ((struct flock *)argument)->l_type != F_UNLCK;
  if (isLock && is_faulty("lock", name_of_file(file, path))) return -1;
  return REAL(int, real, int, int, ...)(file, command, argument);
}

#define CONTROL(name) int name(int file, int command, ...) { \
  va_list arguments; \
  va_start(arguments, command); \
  void *argument = va_arg(arguments, void *); \
  va_end(arguments); \
  return control(#name, file, command, argument); \
}
CONTROL(fcntl)
CONTROL(fcntl64)

void *mmap64(void *address, size_t length, int protection, int flags, int file, off64_t offset) {
  char path[4096];
  if (file >= 0 && flags & MAP_SHARED && is_faulty("map", name_of_file(file, path))) return MAP_FAILED;
  return REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t)(address, length, protection, flags, file, offset);
}
void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) { return mmap64(address, length, protection, flags, file, offset); }
