// What happens to single cameras in an audit: the faults of cameras and networks (test/faults), and those of audio, of the
// frame rate, and of people who turn recording off and on.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Fault, listFaults } from '../faults/faults.ts'
import type { Audited } from './audit-cameras.ts'

/** Not a fault of the camera: done to its recording by its owner, through the interface. */
export type Owner = { stop(cameraId: number): Promise<void>; start(cameraId: number): Promise<void> }

export type AuditFault = {
  readonly name: string
  /** Resolves when all is as it was. `random` is uniform in [0, 1). */
  inflict(random: () => number): Promise<void>
  readonly reasons: readonly string[]
  readonly noticeMs: number
  readonly spoilsFrames: boolean
  readonly turnsBits?: boolean
  readonly holdsUp?: boolean
  readonly stepsLittle?: boolean
  readonly slows?: boolean
  readonly losesFigures?: boolean
}

const between = (random: () => number, min: number, max: number) => Math.round(min + random() * (max - min))

/** Every fault that this camera can have, in an order that is always the same. */
export function listCameraFaults(camera: Audited, owner: Owner): AuditFault[] {
  return [
    ...listFaults(camera)
      .filter(({ isLong, name }) => !isLong && !(camera.isDatagram && isOfConnection(name)))
      .map((fault) => adopt(fault, camera)),
    ...listOwn(camera, owner),
  ]
}

/** Done to the bytes of pictures inside a TCP connection. */
function isOfConnection(name: string): boolean {
  return ['come', 'bytes', 'bits', 'inside'].some((word) => name.includes(word)) || name === 'packets: frame'
}

/** Its first packets are not believed, so what they carried is lost like any other packet. */
function isAnotherSource(name: string): boolean {
  return name.startsWith('another source')
}

/** The fault runs ask what a connection may not outlive; here holes inside one are gaps too. */
function adopt({ name, inflict, reasons, noticeMs, spoilsFrames = false }: Fault, camera: Audited): AuditFault {
  const inRun = [
    ...(spoilsFrames ? ['packet_loss'] : []),
    // The camera goes on counting its packets while it sends none.
    ...(name.startsWith('nothing sent') ? ['no_frames', 'packet_loss'] : []),
    ...(name.startsWith('clock') ? ['clock_set'] : []),
    ...(isAnotherSource(name) ? ['stream_changed', 'packet_loss'] : []),
  ]
  return {
    name,
    inflict: (random) => inflict(camera, random),
    reasons: [...reasons, ...inRun],
    noticeMs,
    spoilsFrames: spoilsFrames || isAnotherSource(name),
    holdsUp: name.startsWith('everything comes late'),
    turnsBits: name === 'packets: flip' || name === 'bits turned over',
  }
}

/** Below it, two pictures are half a second late before anything tells a slow camera from a slow network. */
const leastFramesPerSecond = 5

function listOwn({ id, stream, framesPerSecond, rtsp, link, hasAudio }: Audited, owner: Owner): AuditFault[] {
  const { faults } = rtsp!
  const restarted: AuditFault = {
    name: 'camera restarted',
    async inflict(random) {
      faults.restartEncoder(60_000, stream)
      await link.refuse(between(random, 2000, 8000))
    },
    ...{ reasons: ['camera_unreachable', 'packet_loss'], noticeMs: 2000, spoilsFrames: true },
  }
  const stopped: AuditFault = {
    name: 'recording turned off and on',
    async inflict(random) {
      await owner.stop(id)
      await sleep(between(random, 1000, 8000))
      await owner.start(id)
    },
    ...{ reasons: ['stopped_by_user'], noticeMs: 3000, spoilsFrames: false },
  }
  const slow: AuditFault = {
    name: 'fewer pictures than the timestamps say',
    async inflict(random) {
      const most = Math.min(3, Math.max(1.5, framesPerSecond / leastFramesPerSecond))
      faults.slowDown(1 + random() * (most - 1), stream)
      await sleep(between(random, 10_000, 25_000))
      faults.slowDown(1, stream)
    },
    ...{ reasons: [], noticeMs: 5000, spoilsFrames: false },
    slows: true,
  }
  const stepped: AuditFault = {
    name: 'timestamps that step a little',
    inflict: async (random) => faults.jumpClock(between(random, 100, 2000) * (random() < 0.5 ? -1 : 1), stream),
    ...{ reasons: [], noticeMs: 5000, spoilsFrames: false },
    stepsLittle: true,
  }
  const silent: AuditFault = {
    name: 'no audio for a while',
    async inflict(random) {
      faults.muteAudio(true, stream)
      await sleep(between(random, 500, 12_000))
      faults.muteAudio(false, stream)
    },
    ...{ reasons: [], noticeMs: 5000, spoilsFrames: false },
  }
  const late: AuditFault = {
    name: 'audio that begins late',
    async inflict(random) {
      faults.muteAudio(true, stream)
      link.cut()
      await sleep(between(random, 500, 6000))
      faults.muteAudio(false, stream)
    },
    ...{ reasons: ['camera_unreachable'], noticeMs: 2000, spoilsFrames: false },
  }
  return [restarted, stopped, stepped, ...(hasAudio ? [silent, late] : [slow])]
}
