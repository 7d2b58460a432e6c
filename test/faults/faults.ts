// Everything that is done to a camera, and what the server owes its owner then. Each ends by itself: the camera works again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeCamera } from '../fake-camera/fake-camera.ts'
import { packetFaults } from '../fake-camera/rtsp/packet-faults.ts'
import type { ImageServer } from './image-server.ts'
import type { Link } from './link.ts'

/** An RTSP camera that repeats a clip, one that is drawn as it is sent, with audio, and one of pictures by HTTP. */
export type CameraKind = 'loop' | 'live' | 'http'

export type FaultyCamera = {
  readonly kind: CameraKind
  readonly stream: string
  readonly isJpeg: boolean
  readonly link: Link
  readonly rtsp?: FakeCamera
  readonly http?: ImageServer
}

export type Fault = {
  readonly name: string
  readonly kinds: readonly CameraKind[]
  /** Resolves when the camera would serve again. `random` is uniform in [0, 1). */
  inflict(camera: FaultyCamera, random: () => number): Promise<void>
  /** Must the connection outlive it, or be replaced by another? */
  readonly connection: 'kept' | 'replaced' | 'any'
  /** Reasons that a gap in its footage may be given; none: there must be no gap. */
  readonly reasons: readonly string[]
  /** There must be a gap with this reason; of faults that only an attempt to connect meets, when the server met it. */
  readonly mustTell?: string
  readonly isMetByAttempts?: boolean
  /** How long the server may take to see that all is well again or that it must connect anew, besides the back-off. */
  readonly noticeMs: number
  /** Pictures may be spoilt without anybody being able to tell: RTP has no checksum. */
  readonly spoilsFrames?: boolean
  /** Takes minutes: a few of these are enough. */
  readonly isLong?: boolean
}

const rtsp = ['loop', 'live'] as const
const all = ['loop', 'live', 'http'] as const
/** Pictures are missing for more than a second while the connection stands; how long depends on the camera's groups of pictures. */
const holes = ['packet_loss', 'no_frames']
const watchMs = 13_000
const answerMs = 10_000

const between = (random: () => number, min: number, max: number) => Math.round(min + random() * (max - min))

const onLink: readonly Fault[] = [
  {
    name: 'connection reset',
    kinds: all,
    inflict: async ({ link }) => link.cut(),
    ...{ connection: 'replaced', reasons: ['camera_unreachable'], noticeMs: 0 },
  },
  {
    name: 'connection closed inside a packet',
    kinds: all,
    inflict: ({ link }) => link.cutInside(),
    ...{ connection: 'replaced', reasons: ['camera_unreachable'], noticeMs: 2000 },
  },
  {
    name: 'connections refused',
    kinds: all,
    inflict: ({ link }, random) => link.refuse(between(random, 5000, 8000)),
    ...{ connection: 'replaced', reasons: ['camera_unreachable'], mustTell: 'camera_unreachable', noticeMs: 0 },
  },
  {
    name: 'connections accepted, nobody there',
    kinds: all,
    inflict: ({ link }, random) => link.swallow(between(random, 5000, 12_000)),
    ...{ connection: 'replaced', reasons: ['camera_unreachable'], mustTell: 'camera_unreachable', noticeMs: 0 },
  },
  {
    name: 'everything comes late, at once',
    kinds: all,
    inflict: ({ link }, random) => link.hold(between(random, 1000, 6000)),
    ...{ connection: 'kept', reasons: holes, noticeMs: 3000 },
  },
  {
    name: 'bytes between packets that are none',
    kinds: all,
    inflict: ({ link }, random) => link.insert(createNoise(between(random, 1, 2000), random)),
    ...{ connection: 'kept', reasons: [], noticeMs: 5000 },
  },
  {
    name: 'a flood of bytes that are none',
    kinds: all,
    inflict: ({ link }, random) => link.insert(createNoise(300_000, random)),
    ...{ connection: 'any', reasons: [...holes, 'camera_unreachable'], noticeMs: watchMs },
  },
  {
    name: 'bytes missing',
    kinds: all,
    inflict: ({ link }, random) => link.remove(between(random, 1, 100), random),
    ...{ connection: 'any', reasons: [...holes, 'camera_unreachable'], noticeMs: watchMs, spoilsFrames: true },
  },
  {
    name: 'bits turned over',
    kinds: all,
    inflict: ({ link }, random) => link.flip(between(random, 1, 30), random),
    ...{ connection: 'any', reasons: [...holes, 'camera_unreachable'], noticeMs: watchMs, spoilsFrames: true },
  },
]

const inStream: readonly Fault[] = [
  {
    name: 'nothing sent for some seconds',
    kinds: all,
    inflict: (camera, random) => stall(camera, between(random, 2000, 6000)),
    ...{ connection: 'kept', reasons: holes, noticeMs: 5000 },
  },
  {
    name: 'nothing sent for long',
    kinds: all,
    inflict: (camera, random) => stall(camera, between(random, 16_000, 20_000)),
    ...{ connection: 'replaced', reasons: ['no_frames', 'camera_unreachable'], mustTell: 'no_frames' },
    noticeMs: watchMs + answerMs,
  },
  ...packetFaults.map(
    (kind): Fault => ({
      name: `packets: ${kind}`,
      kinds: rtsp,
      async inflict({ rtsp, stream }, random) {
        const ms = between(random, 300, 1500)
        rtsp!.faults.spoilPackets(kind, ms, random, stream)
        await sleep(ms)
      },
      ...{ connection: 'any', reasons: [...holes, 'camera_unreachable'], noticeMs: watchMs, spoilsFrames: true },
    }),
  ),
  {
    name: 'clock forwards',
    kinds: rtsp,
    inflict: async ({ rtsp, stream }, random) => rtsp!.faults.jumpClock(between(random, 3000, 7_200_000), stream),
    ...{ connection: 'kept', reasons: [], noticeMs: 5000 },
  },
  {
    name: 'clock backwards',
    kinds: rtsp,
    inflict: async ({ rtsp, stream }, random) => rtsp!.faults.jumpClock(-between(random, 100, 7_200_000), stream),
    ...{ connection: 'kept', reasons: [], noticeMs: 5000 },
  },
  {
    name: 'another source, whose timestamps wrap',
    kinds: rtsp,
    async inflict({ rtsp, stream }, random) {
      const ms = between(random, 500, 3000)
      rtsp!.faults.restartEncoder(ms, stream)
      await sleep(ms)
    },
    ...{ connection: 'kept', reasons: holes, noticeMs: 5000 },
  },
  {
    name: 'another size',
    kinds: rtsp,
    inflict: ({ rtsp, stream }) => rtsp!.faults.changeResolution(stream),
    ...{ connection: 'kept', reasons: [], noticeMs: 5000 },
  },
  {
    name: 'another codec',
    kinds: ['loop'],
    inflict: ({ rtsp, stream }) => rtsp!.faults.changeCodec(stream),
    ...{ connection: 'replaced', reasons: ['camera_unreachable'], noticeMs: 3000 },
  },
  {
    name: 'stream ended by the camera',
    kinds: rtsp,
    inflict: async ({ rtsp, stream }) => rtsp!.faults.endStream(stream),
    ...{ connection: 'replaced', reasons: ['no_frames'], noticeMs: 3000 },
  },
  ...(['halves', 'lengths'] as const).map(
    (kind): Fault => ({
      name: `pictures: ${kind}`,
      kinds: ['http'],
      async inflict({ http }, random) {
        const count = between(random, 1, 15)
        http!.spoil(kind, count)
        await sleep(count * 100)
      },
      ...{ connection: 'kept', reasons: holes, noticeMs: 5000, spoilsFrames: true },
    }),
  ),
]

const atSetUp: readonly Fault[] = [
  ...([302, 404, 453, 454, 500, 503] as const).map(
    (status): Fault => ({
      name: status === 302 ? 'redirected' : `rejected with ${status}`,
      kinds: all,
      inflict: (camera, random) => reject(camera, status, between(random, 4000, 7000)),
      ...{ connection: 'replaced', reasons: ['no_frames', 'camera_unreachable'], mustTell: 'no_frames', noticeMs: 0 },
      isMetByAttempts: true,
    }),
  ),
  {
    name: 'login refused once',
    kinds: all,
    inflict: (camera) => refuseLogins(camera, 1),
    ...{ connection: 'replaced', reasons: ['auth_failed', 'camera_unreachable'], noticeMs: 1000 },
  },
  {
    name: 'login refused twice',
    kinds: all,
    inflict: (camera) => refuseLogins(camera, 2),
    ...{ connection: 'replaced', reasons: ['auth_failed', 'camera_unreachable'], mustTell: 'auth_failed' },
    ...{ noticeMs: 125_000, isLong: true },
  },
  ...(['no_video', 'unknown_codec', 'unreadable'] as const).map(
    (kind): Fault => ({
      name: `described: ${kind}`,
      kinds: rtsp,
      async inflict({ rtsp, stream, link }, random) {
        rtsp!.faults.describeAs(kind, stream)
        link.cut()
        await sleep(between(random, 4000, 7000))
        rtsp!.faults.describeAs('none', stream)
      },
      ...{ connection: 'replaced', reasons: ['no_frames', 'camera_unreachable'], mustTell: 'no_frames', noticeMs: 0 },
      isMetByAttempts: true,
    }),
  ),
  {
    name: 'described without parameter sets',
    kinds: rtsp,
    async inflict({ rtsp, stream, link }) {
      rtsp!.faults.describeAs('no_parameter_sets', stream)
      link.cut()
      await sleep(3000)
      rtsp!.faults.describeAs('none', stream)
    },
    ...{ connection: 'replaced', reasons: ['camera_unreachable'], noticeMs: 2000 },
  },
]

export const faults: readonly Fault[] = [...onLink, ...inStream, ...atSetUp]

/** Faults that can happen to this camera. */
export function listFaults({ kind, isJpeg }: FaultyCamera): Fault[] {
  return faults.filter(({ kinds, name }) => kinds.includes(kind) && !(isJpeg && name === 'another codec'))
}

function stall({ rtsp, http, stream }: FaultyCamera, ms: number): Promise<void> {
  rtsp?.faults.stall(ms, stream)
  http?.stall(ms)
  return sleep(ms)
}

async function reject(camera: FaultyCamera, status: number, ms: number): Promise<void> {
  setStatus(camera, status)
  camera.link.cut()
  await sleep(ms)
  setStatus(camera, undefined)
}

/** Until the server has come so often and been told that its login is wrong. */
async function refuseLogins(camera: FaultyCamera, times: number): Promise<void> {
  const { link } = camera
  const before = link.connectedAt.length
  setStatus(camera, 401)
  link.cut()
  for (let i = 0; i < 1200 && link.connectedAt.length < before + times; i++) await sleep(50)
  await sleep(300)
  setStatus(camera, undefined)
}

function setStatus({ rtsp, http, stream }: FaultyCamera, status: number | undefined): void {
  rtsp?.faults.answerWith(status, stream)
  http?.answerWith(status)
}

function createNoise(count: number, random: () => number): Uint8Array {
  return Uint8Array.from({ length: count }, () => Math.floor(random() * 256))
}
