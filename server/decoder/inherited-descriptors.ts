// Files and connections that the server has from whoever started it. Node closes its own in a child process, and not
// all of these: a shell that left a file open would pass it on to a process that decodes.

import { openSync, readdirSync, readFileSync } from 'node:fs'

/** `O_CLOEXEC` among the flags in /proc/PID/fdinfo (proc(5)), which are octal. */
const closeOnExec = 0o2000000

/** Descriptors above the standard ones that a child process would inherit. None where the system has no such list. */
function listInherited(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && isPassedOn(fd))
      .sort((a, b) => a - b)
  } catch {
    return []
  }
}

function isPassedOn(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    return false // It was that of the list itself.
  }
}

const inherited = listInherited()
const nothing = inherited.length > 0 ? openSync('/dev/null', 'r') : undefined

/** `stdio` for `spawn`, with /dev/null in the place of each inherited descriptor behind it. */
export function withoutInherited(stdio: readonly 'pipe'[]): ('pipe' | 'ignore' | number)[] {
  const all: ('pipe' | 'ignore' | number)[] = [...stdio]
  for (const fd of inherited) {
    // Node closes nothing in the place of 'ignore'.
    while (all.length < fd) all.push('ignore')
    if (all.length === fd) all.push(nothing!)
  }
  return all
}
