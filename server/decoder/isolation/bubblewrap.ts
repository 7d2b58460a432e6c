// The arguments of bubblewrap (bwrap): a process in namespaces of its own, which sees the files it consists of and nothing else.

export type BubblewrapOptions = {
  /** Files and folders that are seen, read-only and under their own paths. */
  readonly readable: readonly string[]
  readonly mountsProc: boolean
  /** Where bubblewrap reads the filter of system calls from. */
  readonly filterDescriptor: number | undefined
}

/** Where the loader finds the C library; those that a system does not have are left out. */
const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/nix/store', '/gnu/store', '/etc/ld.so.cache']

const devices = ['/dev/null', '/dev/urandom']

export function writeBubblewrapArgs({ readable, mountsProc, filterDescriptor }: BubblewrapOptions): string[] {
  return [
    // No network, no processes, no shared memory of others. A user namespace also where root could do without.
    ...['--unshare-user', '--unshare-ipc', '--unshare-net', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    // No session of its own: whoever ends the process ends its group, bubblewrap included (message-child.ts).
    ...['--die-with-parent', '--cap-drop', 'ALL', '--clearenv'],
    ...libraries.flatMap((path) => ['--ro-bind-try', path, path]),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...devices.flatMap((path) => ['--dev-bind', path, path]),
    ...(mountsProc ? ['--proc', '/proc'] : []),
    ...['--dir', '/tmp'],
    // The root, an empty folder in memory that is gone with the process, held until here what the above was mounted on.
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(filterDescriptor === undefined ? [] : ['--seccomp', `${filterDescriptor}`]),
  ]
}
