// The arguments of bubblewrap (bwrap), which runs a process in its own namespaces with only the files that it needs.

export type BubblewrapOptions = {
  /** Files and folders that are visible, read-only and under their own paths. */
  readonly readable: readonly string[]
  readonly mountsProc: boolean
  /** Descriptor from which bubblewrap reads the system call filter. */
  readonly filterDescriptor: number | undefined
}

/** Where the loader finds the C library. Missing folders are skipped. */
const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/nix/store', '/gnu/store', '/etc/ld.so.cache']

const devices = ['/dev/null', '/dev/urandom']

export function writeBubblewrapArgs({ readable, mountsProc, filterDescriptor }: BubblewrapOptions): string[] {
  return [
    // No network, and no access to processes and shared memory of others. A user namespace also where root would not
    // need one.
    ...['--unshare-user', '--unshare-ipc', '--unshare-net', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    // No own session: killing the process group also ends bubblewrap (message-child.ts).
    ...['--die-with-parent', '--cap-drop', 'ALL', '--clearenv'],
    ...libraries.flatMap((path) => ['--ro-bind-try', path, path]),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...devices.flatMap((path) => ['--dev-bind', path, path]),
    ...(mountsProc ? ['--proc', '/proc'] : []),
    ...['--dir', '/tmp'],
    // The root is an empty in-memory folder that disappears with the process. It is writable up to here for the mounts
    // above.
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(filterDescriptor === undefined ? [] : ['--seccomp', `${filterDescriptor}`]),
  ]
}
