// The cameras of an audit: each a program of its own behind a link of its own, all different, and a ledger of what they sent.

import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import type { FrameCounter } from '../fake-camera/frame-counter.ts'
import type { StreamOptions } from '../fake-camera/source/stream-options.ts'
import type { FaultyCamera } from '../faults/faults.ts'
import { type Link, openLink } from '../faults/link.ts'
import type { SentFrame } from './judge.ts'

export type AuditCamera = FaultyCamera & {
  readonly url: string
  readonly codec: 'h264' | 'h265' | 'mjpeg'
  readonly framesPerSecond: number
  readonly hasAudio: boolean
  /** Its packets come by UDP. */
  readonly isDatagram: boolean
  /** Each picture that was handed to a connection whole, with the true time it was taken; grows. */
  readonly sent: readonly SentFrame[]
}

/** One that the server knows. */
export type Audited = AuditCamera & { readonly id: number }

export type AuditCameras = AsyncDisposable & { readonly cameras: readonly AuditCamera[] }

const small = { width: 320, height: 180, framesPerSecond: 10, gopFrames: 10, bitsPerSecond: 200_000 } as const
const kinds: readonly (Omit<StreamOptions, 'name'> & {
  readonly framesPerSecond: number
  readonly isDatagram?: boolean
})[] = [
  { ...small, codec: 'h264' },
  { ...small, codec: 'h264', hasAudio: true, gopFrames: 20, keepsGroup: true },
  { ...small, codec: 'h265' },
  // JPEG has no place for a number but its pixels, which must stay readable in two thirds of the size; and whole
  // blocks of 8 lines, since RFC 2435 has no others.
  { ...small, codec: 'mjpeg', width: 480, height: 288, framesPerSecond: 5 },
  { ...small, codec: 'h264', framesPerSecond: 25, gopFrames: 50 },
  { ...small, codec: 'h264', framesPerSecond: 15, gopFrames: 15, isDatagram: true },
  { ...small, codec: 'h264', framesPerSecond: 12, gopFrames: 24, audio: 'pcmu', hasAudio: true },
]

/** Each camera beyond the first 14: the machine has no time for more frames of so many. */
const slow: (typeof kinds)[number] = { ...small, codec: 'h264', framesPerSecond: 4, gopFrames: 8 }

/** `host`: an address of this machine, for the server to connect to. */
export async function openAuditCameras(count: number, host = '127.0.0.1'): Promise<AuditCameras> {
  await using opened = new AsyncDisposableStack()
  const cameras: AuditCamera[] = []
  for (let i = 0; i < count; i++) {
    const { isDatagram = false, ...kind } = i < 2 * kinds.length ? kinds[i % kinds.length]! : slow
    const codec = kind.codec ?? 'h264'
    const stream = `camera/${i}/${codec}${isDatagram ? '/udp' : ''}`
    const sent: SentFrame[] = []
    const onSent = (_: string, taken: FrameCounter) => addOnce(sent, taken)
    let link: Link | undefined
    const rtsp = opened.use(
      await openFakeCamera({
        streams: [{ ...kind, name: stream, scene: 'yard', stampsTrueTime: true }],
        isDatagram,
        findClient: (port) => ({ address: link?.clientOf(port), from: host }),
        onSent,
      }),
    )
    link = opened.use(await openLink(rtsp.port, host))
    const url = `rtsp://${host}:${link.port}/${stream}`
    cameras.push({
      kind: 'live',
      stream,
      isJpeg: codec === 'mjpeg',
      codec,
      isDatagram,
      framesPerSecond: kind.framesPerSecond,
      hasAudio: kind.hasAudio ?? false,
      link,
      rtsp,
      url,
      sent,
    })
  }
  const owned = opened.move()
  return { cameras, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Keeps the order in which they were taken: a camera that keeps its last group sends it again. */
function addOnce(sent: SentFrame[], taken: FrameCounter): void {
  const before = sent.findLastIndex(({ frameNumber }) => frameNumber <= taken.frameNumber)
  const isAgain = sent[before]?.frameNumber === taken.frameNumber
  sent.splice(isAgain ? before : before + 1, isAgain ? 1 : 0, { ...taken, sentMs: Date.now() })
}
