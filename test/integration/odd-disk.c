// A disk as others have it, for the process that loads this library (LD_PRELOAD): what it refuses is in the environment.
//
// ODD_FOLDER      the folder that all of this is about
// ODD_MAX_FILES   more files are refused with EDQUOT
// ODD_FOLDER_SYNC folders cannot be synced: the number of the error
// ODD_SIZE        what the file system says of its size: `none`, or `shared` as a folder of a virtual machine's host

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

static atomic_int files;

static int is_inside(const char *path) {
  const char *folder = getenv("ODD_FOLDER");
  return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_refused(const char *path, int flags) {
  const char *max = getenv("ODD_MAX_FILES");
  if (!max || !(flags & O_CREAT) || !is_inside(path) || access(path, F_OK) == 0) return 0;
  if (atomic_fetch_add(&files, 1) < atoi(max)) return 0;
  atomic_fetch_sub(&files, 1);
  errno = EDQUOT;
  return 1;
}

#define OPEN(name)                                                              \
  int name(const char *path, int flags, ...) {                                  \
    static int (*next)(const char *, int, ...);                                 \
    if (!next) next = dlsym(RTLD_NEXT, #name);                                  \
    va_list rest;                                                               \
    va_start(rest, flags);                                                      \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
    va_end(rest);                                                               \
    return is_refused(path, flags) ? -1 : next(path, flags, mode);              \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
  static int (*next)(const char *);
  if (!next) next = dlsym(RTLD_NEXT, "unlink");
  int result = next(path);
  if (result == 0 && getenv("ODD_MAX_FILES") && is_inside(path)) atomic_fetch_sub(&files, 1);
  return result;
}

int fsync(int file) {
  static int (*next)(int);
  if (!next) next = dlsym(RTLD_NEXT, "fsync");
  const char *error = getenv("ODD_FOLDER_SYNC");
  struct stat found;
  if (error && fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
      path[length] = 0;
      if (is_inside(path)) {
        errno = atoi(error);
        return -1;
      }
    }
  }
  return next(file);
}

static void change(const char *path, struct statfs *found) {
  const char *size = getenv("ODD_SIZE");
  if (!size || !is_inside(path)) return;
  if (strcmp(size, "none") == 0) {
    found->f_blocks = found->f_bfree = found->f_bavail = 0;
    found->f_files = found->f_ffree = 0;
  } else {
    found->f_frsize = found->f_bsize;
    found->f_bsize = 1 << 20;
    found->f_files = 0;
    found->f_ffree = (fsfilcnt_t)-1;
  }
}

int statfs(const char *path, struct statfs *found) {
  static int (*next)(const char *, struct statfs *);
  if (!next) next = dlsym(RTLD_NEXT, "statfs");
  int result = next(path, found);
  if (result == 0) change(path, found);
  return result;
}

int statfs64(const char *path, struct statfs64 *found) {
  static int (*next)(const char *, struct statfs64 *);
  if (!next) next = dlsym(RTLD_NEXT, "statfs64");
  int result = next(path, found);
  // On 64-bit systems both are the same.
  if (result == 0) change(path, (struct statfs *)found);
  return result;
}
