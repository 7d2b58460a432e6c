// File systems for tests that need a small one, or one that comes and goes: mounted where root may, and taken away at the end.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why nothing can be mounted here, for `skip`; false where it can. */
export function whyNoMounts(): string | false {
  if (process.getuid?.() !== 0) return 'only root may mount file systems: run the tests as root to include this one'
  const folder = mkdtempSync(join(tmpdir(), 'nightjar-mount-'))
  const { status, stderr } = run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'nightjar-test', folder)
  if (status === 0) run('umount', folder)
  rmSync(folder, { recursive: true })
  return status === 0 ? false : `file systems cannot be mounted here: ${stderr.trim()}`
}

export type Mounts = {
  /** An empty folder. */
  readonly folder: string
  mountMemory(at: string, megabytes: number, ...options: string[]): void
  /** The folder `of` under another name. */
  bind(of: string, at: string, ...options: string[]): void
  unmount(at: string): void
}

/** Whatever is still mounted at the end of the test, or of what calls `after` at its end, is unmounted; the folder goes. */
export function openMounts(t: { after(end: () => void): void }): Mounts {
  const folder = mkdtempSync(join(tmpdir(), 'nightjar-mounts-'))
  const mounted: string[] = []
  const mount = (at: string, ...args: string[]) => {
    mkdirSync(at, { recursive: true })
    succeed('mount', ...args, at)
    mounted.push(at)
  }
  const unmount = (at: string) => {
    // Lazily, as when a disk is pulled: files that are open stay open.
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
