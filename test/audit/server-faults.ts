// What happens to the server in an audit, and with it to all its cameras: its process, its threads and children, its clock and
// its disk.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../faults/link.ts'
import type { ServerProcess } from '../server-under-test.ts'
import type { AuditFault } from './camera-faults.ts'
import type { ServerClock } from './server-clock.ts'
import type { ServerDisk } from './server-disk.ts'

export type ServerParts = {
  readonly server: ServerProcess
  /** Between the server and all its cameras. */
  readonly links: readonly Pick<Link, 'refuse'>[]
  /** How long the server may stand still at most. */
  readonly longestStandstillMs: number
  readonly clock: ServerClock
  readonly disk: ServerDisk
  /** A media worker that finds this file ends of an error. */
  readonly deathOrder: string
}

/** For it to be survived, there must be older footage to delete. */
export const diskFull = 'disk full'

const between = (random: () => number, min: number, max: number) => Math.round(min + random() * (max - min))
const harmless = { reasons: [], noticeMs: 5000, spoilsFrames: false }

/** In an order that is always the same; without those that this machine does not allow. */
export function listServerFaults(parts: ServerParts): AuditFault[] {
  return [...listProcessFaults(parts), ...listClockFaults(parts), ...listDiskFaults(parts)]
}

function listProcessFaults({ server, deathOrder, longestStandstillMs }: ServerParts): AuditFault[] {
  return [
    {
      name: 'server killed',
      async inflict(random) {
        await server.kill()
        await sleep(between(random, 0, 5000))
        await server.start()
      },
      ...{ reasons: ['server_down'], noticeMs: 5000, spoilsFrames: false },
    },
    {
      name: 'server stopped and started',
      async inflict(random) {
        await server.stop()
        await sleep(between(random, 0, 3000))
        await server.start()
      },
      ...{ reasons: ['server_down'], noticeMs: 5000, spoilsFrames: false },
    },
    {
      name: 'server stands still',
      async inflict(random) {
        process.kill(server.pid, 'SIGSTOP')
        await sleep(between(random, 500, 7000))
        process.kill(server.pid, 'SIGCONT')
      },
      ...harmless,
      holdsUp: true,
    },
    {
      name: 'server stands still for long, as on a suspended machine',
      async inflict(random) {
        process.kill(server.pid, 'SIGSTOP')
        // As many short ones as long ones: in proportion.
        await sleep(10_000 * Math.max(1, longestStandstillMs / 10_000) ** random())
        process.kill(server.pid, 'SIGCONT')
      },
      // Cameras hold no more than their buffers, and end a session that nobody keeps up.
      ...{ reasons: ['packet_loss', 'no_frames', 'camera_unreachable'], noticeMs: 10_000, spoilsFrames: false },
      holdsUp: true,
    },
    {
      name: 'media worker ends of an error',
      async inflict() {
        await writeFile(deathOrder, '')
        await sleep(3000)
      },
      ...{ reasons: ['overload', 'server_down', 'unknown'], noticeMs: 5000, spoilsFrames: false },
      losesFigures: true,
    },
    ...(['decoder', 'audio'] as const).map((kind) => ({
      name: `${kind} process killed`,
      async inflict() {
        for (const pid of listChildren(server.pid, kind)) process.kill(pid, 'SIGKILL')
        await sleep(2000)
      },
      ...harmless,
    })),
  ]
}

function listClockFaults({ clock, links }: ServerParts): AuditFault[] {
  if (!clock.canBeSet) return []
  const longest = { forwards: 2 * 3_600_000, back: 3_600_000 }
  const set = (name: string, draw: (random: () => number) => number): AuditFault => ({
    name,
    async inflict(random) {
      const now = clock.steps.at(-1)!.offsetMs
      // All that is recorded must fit into the day that a timeline shows.
      const next = Math.max(-longest.back * 4, Math.min(longest.forwards * 4, now + draw(random)))
      await clock.set(next)
      await sleep(4000)
    },
    ...{ reasons: ['clock_set'], noticeMs: 5000, spoilsFrames: false },
  })
  const unwatched: AuditFault = {
    name: "server's clock set back while all cameras are away",
    async inflict(random) {
      const outageMs = between(random, 6000, 15_000)
      const returned = links.map((link) => link.refuse(outageMs))
      await sleep(outageMs / 2)
      await clock.set(Math.max(-longest.back * 4, clock.steps.at(-1)!.offsetMs - between(random, 2500, longest.back)))
      await Promise.all(returned)
      await sleep(4000)
    },
    ...{ reasons: ['clock_set', 'camera_unreachable'], noticeMs: 5000, spoilsFrames: false },
  }
  return [
    unwatched,
    set("server's clock set ahead by seconds", (random) => between(random, 2500, 60_000)),
    set("server's clock set back by seconds", (random) => -between(random, 2500, 60_000)),
    set("server's clock set ahead", (random) => between(random, 60_000, longest.forwards)),
    set("server's clock set back", (random) => -between(random, 60_000, longest.back)),
  ]
}

function listDiskFaults({ server, disk }: ServerParts): AuditFault[] {
  const failing: AuditFault = {
    name: 'writes to files fail',
    async inflict(random) {
      limitFileSize(server.pid, '0')
      await sleep(between(random, 2000, 10_000))
      limitFileSize(server.pid, 'unlimited')
    },
    ...{ reasons: ['disk_failed', 'disk_full'], noticeMs: 5000, spoilsFrames: false },
  }
  const gone: AuditFault = {
    name: 'folder of the recordings gone and back',
    async inflict(random) {
      await disk.takeAway()
      await sleep(between(random, 5000, 20_000))
      await disk.bringBack()
    },
    ...{ reasons: ['disk_failed'], noticeMs: 5000, spoilsFrames: false },
  }
  const full: AuditFault = {
    name: diskFull,
    async inflict(random) {
      disk.fill()
      await sleep(between(random, 5000, 15_000))
      await disk.free()
    },
    ...{ reasons: ['disk_full'], noticeMs: 5000, spoilsFrames: false },
  }
  return disk.canBeFull ? [failing, gone, full] : [failing, gone]
}

/** Of a process that runs (util-linux): beyond it every write to a file fails with EFBIG. */
function limitFileSize(pid: number, bytes: string): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`prlimit: ${stderr}`)
}

/** Processes whose command line names a program of this kind, all the way down (proc(5)). */
function listChildren(parent: number, kind: 'decoder' | 'audio'): number[] {
  const found: number[] = []
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const parentOf = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'latin1'))?.[1])
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1')
      if (parentOf === parent && command.includes(`${kind}-process`)) found.push(Number(name))
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}
