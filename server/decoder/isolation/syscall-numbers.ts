// The numbers of the system calls that the isolation filter treats: denied calls in groups, and two calls whose
// arguments are examined. From Linux 6.1, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
// Numbers never change.

export type Syscall = {
  readonly x64?: number
  readonly arm64?: number
  /** unknown: answered as by a kernel without the call. Otherwise the call is forbidden. */
  readonly treatment?: 'unknown' | 'examined'
}

export type SyscallNumbers = {
  /** AUDIT_ARCH_… of linux/audit.h. */
  readonly architecture: number
  readonly column: 'x64' | 'arm64'
  /** Numbers from this one on belong to another calling convention. */
  readonly foreignBit: number | undefined
}

/** By `process.arch`. */
export const syscallNumbers: { readonly [arch: string]: SyscallNumbers | undefined } = {
  x64: { architecture: 0xc000003e, column: 'x64', foreignBit: 0x40000000 },
  arm64: { architecture: 0xc00000b7, column: 'arm64', foreignBit: undefined },
}

/** set_mempolicy_home_node: calls added after Linux 6.1 are unknown here. */
export const lastSyscall = 450

const table = {
  // Network: the process has only the pipes it was given, which are sockets too.
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  connect: { x64: 42, arm64: 203 },
  bind: { x64: 49, arm64: 200 },
  listen: { x64: 50, arm64: 201 },
  accept: { x64: 43, arm64: 202 },
  accept4: { x64: 288, arm64: 242 },
  // Other processes. Threads are created with clone, see there. Programs are started with execve, once, by the program
  // that starts this process.
  fork: { x64: 57 },
  vfork: { x64: 58 },
  execveat: { x64: 322, arm64: 281 },
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  process_madvise: { x64: 440, arm64: 440 },
  kcmp: { x64: 312, arm64: 272 },
  pidfd_open: { x64: 434, arm64: 434 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  pidfd_send_signal: { x64: 424, arm64: 424 },
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  // File systems.
  chroot: { x64: 161, arm64: 51 },
  pivot_root: { x64: 155, arm64: 41 },
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  mount_setattr: { x64: 442, arm64: 442 },
  move_mount: { x64: 429, arm64: 429 },
  open_tree: { x64: 428, arm64: 428 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  name_to_handle_at: { x64: 303 },
  open_by_handle_at: { x64: 304 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: { x64: 443, arm64: 443 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  fanotify_init: { x64: 300, arm64: 262 },
  inotify_init: { x64: 253 },
  inotify_init1: { x64: 294, arm64: 26 },
  // Memory that no limit counts, and calls that place it.
  memfd_create: { x64: 319, arm64: 279 },
  memfd_secret: { x64: 447, arm64: 447 },
  shmget: { x64: 29, arm64: 194 },
  shmat: { x64: 30, arm64: 196 },
  shmctl: { x64: 31, arm64: 195 },
  semget: { x64: 64, arm64: 190 },
  semop: { x64: 65, arm64: 193 },
  msgget: { x64: 68, arm64: 186 },
  mq_open: { x64: 240, arm64: 180 },
  userfaultfd: { x64: 323, arm64: 282 },
  mbind: { x64: 237, arm64: 235 },
  set_mempolicy: { x64: 238, arm64: 237 },
  set_mempolicy_home_node: { x64: 450, arm64: 450 },
  migrate_pages: { x64: 256, arm64: 238 },
  move_pages: { x64: 279, arm64: 239 },
  remap_file_pages: { x64: 216, arm64: 234 },
  vmsplice: { x64: 278, arm64: 75 },
  // Parts of the kernel with many past vulnerabilities.
  io_uring_setup: { x64: 425, arm64: 425, treatment: 'unknown' },
  io_uring_enter: { x64: 426, arm64: 426, treatment: 'unknown' },
  io_uring_register: { x64: 427, arm64: 427, treatment: 'unknown' },
  io_setup: { x64: 206, arm64: 0 },
  io_submit: { x64: 209, arm64: 2 },
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  personality: { x64: 135, arm64: 92 },
  // The machine itself.
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  create_module: { x64: 174 },
  get_kernel_syms: { x64: 177 },
  query_module: { x64: 178 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  reboot: { x64: 169, arm64: 142 },
  syslog: { x64: 103, arm64: 116 },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  clock_adjtime: { x64: 305, arm64: 266 },
  adjtimex: { x64: 159, arm64: 171 },
  sethostname: { x64: 170, arm64: 161 },
  setdomainname: { x64: 171, arm64: 162 },
  ioperm: { x64: 173 },
  iopl: { x64: 172 },
  modify_ldt: { x64: 154 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  nfsservctl: { x64: 180, arm64: 42 },
  vhangup: { x64: 153, arm64: 58 },
  uselib: { x64: 134 },
  ustat: { x64: 136 },
  sysfs: { x64: 139 },
  _sysctl: { x64: 156 },
  // Without this call, the C library creates threads with clone, whose arguments can be examined.
  clone3: { x64: 435, arm64: 435, treatment: 'unknown' },
  clone: { x64: 56, arm64: 220, treatment: 'examined' },
  mmap: { x64: 9, arm64: 222, treatment: 'examined' },
} satisfies { readonly [name: string]: Syscall }

export const syscalls: { readonly [name in keyof typeof table]: Syscall } = table
