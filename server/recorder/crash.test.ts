// A recorder that is killed at any time leaves a file with whole fragments. This file is also the program that is
// killed.

import assert from 'node:assert/strict'
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { onePlace, oneTarget, testMark } from '../../test/support/archive/one-place.ts'
import { syntheticFormat, syntheticFrames } from '../../test/support/media/synthetic-frames.ts'
import { Catalog } from '../archive/catalog.ts'
import { checkArchive, isClean } from '../archive/check.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import type { Fragment } from '../model/segment.ts'
import type { OpenSegment } from '../model/segment-views.ts'
import { markFolder } from '../places/place-folder.ts'
import { CameraRecorder } from './recorder.ts'

type Message =
  | { type: 'opened'; segment: OpenSegment }
  | { type: 'written'; cameraId: number; path: string; fragment: Fragment }
  | { type: 'closed'; cameraId: number; path: string; checksum: number; indexBytes: number }

const [, , role, archiveDir] = process.argv
if (role === 'record') await recordUntilKilled(archiveDir!)
else test('kill -9 at any moment loses at most the open fragment', testKills)

/** The program records about a hundred times as fast as a camera sends. */
async function recordUntilKilled(archiveDir: string): Promise<void> {
  const send = (message: Message) => void process.send!(message)
  const recorder = new CameraRecorder({
    cameraId: 1,
    targets: oneTarget(archiveDir),
    clock: systemClock,
    log: silentLogger,
    segmentMs: 10_000,
    syncIntervalMs: 50,
    events: {
      segmentOpened: (segment) => send({ type: 'opened', segment }),
      fragmentWritten: (cameraId, path, fragment) => send({ type: 'written', cameraId, path, fragment }),
      segmentClosed: (cameraId, path, checksum, indexBytes) =>
        send({ type: 'closed', cameraId, path, checksum, indexBytes }),
      segmentBroken: () => {},
      statusChanged: () => {},
      gapChanged: () => {},
    },
  })
  const options = { audioSampleRate: 48000, width: 320, height: 240 } as const
  recorder.push({ kind: 'start', runId: 'run', format: syntheticFormat(options) })
  for (const frame of syntheticFrames(options)) {
    recorder.push(frame)
    if (frame.kind === 'video') await new Promise(setImmediate)
    if (frame.isKey && frame.kind === 'video') await delay(1)
  }
}

async function testKills(): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'nightjar-crash-'))
  try {
    let fragments = 0
    for (let round = 0; round < 5; round++) {
      const counts = await Promise.all(
        [0, 1, 2, 3].map((i) => testKill(join(root, `${round}-${i}`), Math.random() * 300)),
      )
      fragments += counts.reduce((a, b) => a + b, 0)
    }
    assert.ok(fragments > 50, `${fragments} fragments`)
  } finally {
    await rm(root, { recursive: true })
  }
}

/** Returns how many fragments survived. */
async function testKill(archiveDir: string, afterMs: number): Promise<number> {
  const rows = new MemorySegmentRows()
  const context = { rows, places: onePlace(archiveDir), clock: systemClock, log: silentLogger }
  const catalog = new Catalog(context)
  const written = new Map<string, Fragment[]>()
  const child = fork(fileURLToPath(import.meta.url), ['record', archiveDir], { execArgv: [] })
  const ended = once(child, 'exit')
  child.on('message', (message: Message) => {
    if (message.type === 'opened') {
      catalog.segmentOpened(message.segment)
      written.set(message.segment.path, [])
    } else if (message.type === 'written') {
      catalog.fragmentWritten(message.cameraId, message.path, message.fragment)
      written.get(message.path)!.push(message.fragment)
    } else catalog.segmentClosed(message.cameraId, message.path, message.checksum, message.indexBytes)
  })
  await once(child, 'message')
  await delay(afterMs)
  child.kill('SIGKILL')
  await ended
  await catalog.close()

  await markFolder(archiveDir, testMark)
  await new Catalog(context).repairOpen([{ id: 1, createdAtMs: 0 }])
  // A file without a row may be younger than the files that are checked.
  const later = { ...systemClock, nowMs: () => Date.now() + 60_000 }
  const report = await checkArchive({ ...context, clock: later, isDeep: true })
  assert.ok(isClean(report), JSON.stringify(report))
  let count = 0
  for (const segment of rows.all) {
    // A file whose opening was not reported is found as well, and fragments whose messages died with the program.
    const reported = written.get(segment.path) ?? []
    assert.ok(segment.isClosed)
    assert.deepEqual(segment.fragments.slice(0, reported.length), reported, 'all reported fragments exist')
    count += segment.fragments.length
  }
  for (const [path, fragments] of written) {
    if (fragments.length > 0) assert.ok(rows.all.some((segment) => segment.path === path))
  }
  const newest = rows.all.at(-1)
  if (newest && existsSync('/usr/bin/ffprobe')) {
    const args = '-v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0'.split(' ')
    const path = join(archiveDir, newest.path)
    assert.equal(String(execFileSync('/usr/bin/ffprobe', [...args, path])).trim(), String(newest.fragments.length * 25))
  }
  return count
}
