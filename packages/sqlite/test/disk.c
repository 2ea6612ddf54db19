/*
 * A disk of which the test knows what would outlive a power cut (LD_PRELOAD).
 * At each fsync and fdatasync the file's content is copied to $DISK_SURVIVES, as it is then; a
 * folder's fsync notes which names it has. $DISK_DELAY_MS makes each of them slow.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void copy_bytes(int from, int to) {
  char buffer[65536];
  ssize_t count;
  for (off_t at = 0; (count = pread(from, buffer, sizeof buffer, at)) > 0; at += count)
    if (write(to, buffer, count) != count) abort();
}

static void keep_file(const char *survives, const char *name, int file) {
  char temporary[4200], kept[4200];
  snprintf(temporary, sizeof temporary, "%s/.new", survives);
  snprintf(kept, sizeof kept, "%s/%s", survives, name);
  int copy = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  copy_bytes(file, copy);
  close(copy);
  rename(temporary, kept);
}

static void keep_names(const char *survives, const char *folder) {
  char list[4200];
  snprintf(list, sizeof list, "%s/.names", survives);
  FILE *names = fopen(list, "w");
  DIR *entries = opendir(folder);
  for (struct dirent *entry; (entry = readdir(entries));) fprintf(names, "%s\n", entry->d_name);
  closedir(entries);
  fclose(names);
}

static void count_sync(const char *survives) {
  char path[4200];
  snprintf(path, sizeof path, "%s/.syncs", survives);
  int syncs = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(syncs, ".", 1) != 1) abort();
  close(syncs);
}

static void note(int file) {
  const char *survives = getenv("DISK_SURVIVES"), *delay = getenv("DISK_DELAY_MS");
  char link[64], path[4096] = {0};
  struct stat found;
  if (delay) {
    struct timespec time = {atoi(delay) / 1000, atoi(delay) % 1000 * 1000000L};
    nanosleep(&time, NULL);
  }
  if (!survives) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, path, sizeof path - 1) < 0 || fstat(file, &found) != 0) return;
  pthread_mutex_lock(&one_at_a_time);
  count_sync(survives);
  if (S_ISDIR(found.st_mode)) keep_names(survives, path);
  else if (S_ISREG(found.st_mode)) keep_file(survives, strrchr(path, '/') + 1, file);
  pthread_mutex_unlock(&one_at_a_time);
}

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int result = real(file);
  if (result == 0) note(file);
  return result;
}

int fdatasync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  int result = real(file);
  if (result == 0) note(file);
  return result;
}
