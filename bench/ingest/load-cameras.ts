// The cameras of the ingest bench: one process that serves the same clip, looped, under many URLs, and counts what it sends.
//
// Run as a program (by openLoadCameras) it is that process; it answers any message with its counts.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type CameraStats, openFakeCamera } from '../../test/fake-camera/fake-camera.ts'
import { createLoadStreams } from '../../test/fake-camera/source/stream-options.ts'

export type LoadCameras = AsyncDisposable & {
  readonly pid: number
  /** Of camera 0, 1, … */
  readonly urls: readonly string[]
  /** Pictures sent by each camera since the beginning: also the number of the picture it sends next. */
  countSent(): Promise<number[]>
  /** Pictures not sent because a receiver was too slow, by cameras with a receiver now. */
  countDropped(): Promise<number>
  /** How many clients play each camera. */
  countPlayers(): Promise<number[]>
}

export type LoadPicture = {
  readonly width?: number
  readonly height?: number
  readonly framesPerSecond?: number
  readonly bitsPerSecond?: number
}

type Ready = { readonly urls: readonly string[] }

const self = fileURLToPath(import.meta.url)

/** Resolves when all can be played. 1280×720 at 25 frames/s and 2 Mbit/s unless `picture` says otherwise. */
export async function openLoadCameras(count: number, picture: LoadPicture = {}): Promise<LoadCameras> {
  const child = fork(self, [String(count), JSON.stringify(picture)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [ready] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the fake cameras ended before they were ready'))),
  ])
  const ask = async (): Promise<CameraStats['streams'][string][]> => {
    child.send('stats')
    const [stats] = (await once(child, 'message')) as [CameraStats]
    return Object.values(stats.streams)
  }
  return {
    pid: child.pid!,
    urls: (ready as Ready).urls,
    countSent: async () => (await ask()).map(({ framesSent }) => framesSent),
    countDropped: async () => (await ask()).reduce((total, { framesDropped }) => total + framesDropped, 0),
    countPlayers: async () => (await ask()).map(({ players }) => players),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function serve(count: number, picture: LoadPicture): Promise<void> {
  const streams = createLoadStreams(count, picture)
  await using camera = await openFakeCamera({ streams })
  process.on('message', () => process.send!(camera.stats()))
  const ended = new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('disconnect', resolve)
  })
  process.send!({ urls: streams.map(({ name }) => camera.url(name)) } satisfies Ready)
  await ended
  process.disconnect?.()
}

if (process.argv[1] === self) await serve(Number(process.argv[2]), JSON.parse(process.argv[3]!) as LoadPicture)
