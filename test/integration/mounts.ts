// File systems for tests that need a small or removable one: mounted if the test runs as root, and unmounted at the
// end.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns the reason for `skip` if nothing can be mounted; otherwise false. */
export function whyNoMounts(): string | false {
  if (process.getuid?.() !== 0) return 'only root may mount file systems: run the tests as root to include this one'
  const folder = mkdtempSync(join(tmpdir(), 'nightjar-mount-'))
  const { status, stderr } = run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'nightjar-test', folder)
  if (status === 0) run('umount', folder)
  rmSync(folder, { recursive: true })
  return status === 0 ? false : `file systems cannot be mounted here: ${stderr.trim()}`
}

export type Mounts = {
  /** Creates an empty folder. */
  readonly folder: string
  mountMemory(at: string, megabytes: number, ...options: string[]): void
  /** Mounts the folder `of` under another name. */
  bind(of: string, at: string, ...options: string[]): void
  unmount(at: string): void
}

/**
 * File systems that are still mounted at the end of the test, or of whatever calls `after`, are unmounted, and the
 * folder is deleted.
 */
export function openMounts(t: { after(end: () => void): void }): Mounts {
  const folder = mkdtempSync(join(tmpdir(), 'nightjar-mounts-'))
  const mounted: string[] = []
  const mount = (at: string, ...args: string[]) => {
    mkdirSync(at, { recursive: true })
    succeed('mount', ...args, at)
    mounted.push(at)
  }
  const unmount = (at: string) => {
    // A lazy unmount, as when a disk is removed: open files stay open.
    succeed('umount', '--lazy', at)
    mounted.splice(mounted.lastIndexOf(at), 1)
  }
  t.after(() => {
    for (const at of [...mounted].reverse()) unmount(at)
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    mountMemory: (at, megabytes, ...options) =>
      mount(at, '-t', 'tmpfs', '-o', [`size=${megabytes}m`, ...options].join(','), 'nightjar-test'),
    bind: (of, at, ...options) => mount(at, '-o', ['bind', ...options].join(','), of),
    unmount,
  }
}

function succeed(program: string, ...args: string[]): void {
  const { status, stderr } = run(program, ...args)
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}

function run(program: string, ...args: string[]) {
  return spawnSync(program, args, { encoding: 'utf8' })
}
