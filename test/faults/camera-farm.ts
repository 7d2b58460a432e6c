// Many cameras of every kind, each behind a link of its own.

import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createRandom } from '../fake-camera/scene/random.ts'
import type { StreamOptions } from '../fake-camera/source/stream-options.ts'
import type { FaultyCamera } from './faults.ts'
import { openImageServer } from './image-server.ts'
import { openLink } from './link.ts'

export type FarmCamera = FaultyCamera & { readonly url: string }

export type CameraFarm = AsyncDisposable & { readonly cameras: readonly FarmCamera[] }

const picture = { width: 192, height: 112, framesPerSecond: 10, gopFrames: 10, bitsPerSecond: 120_000 } as const
const loops: readonly Partial<StreamOptions>[] = [
  { codec: 'h264' },
  { codec: 'h265' },
  { codec: 'h264', bFrames: 2 },
  { codec: 'mjpeg' },
]

/** Of sixteen cameras one is live with audio, two are HTTP, one asks for a login whose nonce wears out. */
export async function openCameraFarm(count: number): Promise<CameraFarm> {
  await using opened = new AsyncDisposableStack()
  const plans = Array.from({ length: count }, (_, i) => planCamera(i))
  const streams = plans.filter(({ kind }) => kind !== 'http').map(({ stream }) => stream)
  const login = { scheme: 'digest-sha256', username: 'viewer', password: 'secret', maxNonceUses: 5 } as const
  const locked = new Set(streams.filter((_, i) => i % 16 === 3))
  const open = opened.use(await openFakeCamera({ streams: streams.filter((stream) => !locked.has(stream)) }))
  const guarded = opened.use(await openFakeCamera({ streams: streams.filter((each) => locked.has(each)), auth: login }))
  const cameras: FarmCamera[] = []
  for (const { kind, stream } of plans) {
    if (kind === 'http') {
      const http = opened.use(await openImageServer())
      const link = opened.use(await openLink(http.port))
      const url = `http://127.0.0.1:${link.port}/stream`
      cameras.push({ kind, stream: stream.name, isJpeg: true, link, http, url })
      continue
    }
    const rtsp: FakeCamera = locked.has(stream) ? guarded : open
    const link = opened.use(await openLink(rtsp.port))
    const user = locked.has(stream) ? 'viewer:secret@' : ''
    const url = `rtsp://${user}127.0.0.1:${link.port}/${stream.name}`
    cameras.push({ kind, stream: stream.name, isJpeg: stream.codec === 'mjpeg', link, rtsp, url })
  }
  const owned = opened.move()
  return { cameras, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function planCamera(index: number): { readonly kind: FaultyCamera['kind']; readonly stream: StreamOptions } {
  const place = index % 16
  const name = `camera/${index}`
  if (place === 7 || place === 15) return { kind: 'http', stream: { name } }
  if (place === 11) return { kind: 'live', stream: { name, ...picture, codec: 'h264', hasAudio: true } }
  const variant = loops[Math.floor(createRandom(index)() * loops.length)]!
  // One clip for all of a kind.
  return { kind: 'loop', stream: { name, ...picture, title: 'farm', scene: 'yard', loopSeconds: 4, ...variant } }
}
