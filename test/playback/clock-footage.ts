// Creates hours of footage in seconds: frames with a burned-in clock, rendered and encoded as by the fake camera and
// recorded by the real recorder into the archive of a stopped server.

import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Catalog } from '../../server/archive/catalog.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { silentLogger } from '../../server/base/log.ts'
import type { AudioFormat } from '../../server/media/frame.ts'
import { h264Codec } from '../../server/media/h264/h264-codec.ts'
import { nalType, nalTypeOf } from '../../server/media/h264/nal-unit.ts'
import { h265Codec } from '../../server/media/h265/h265-codec.ts'
import { hevcNalType, hevcNalTypeOf } from '../../server/media/h265/nal-unit.ts'
import { createSilence } from '../../server/media/telephony/silence.ts'
import { markFolder } from '../../server/places/place-folder.ts'
import { CameraRecorder } from '../../server/recorder/recorder.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openStore } from '../../server/store/store.ts'
import { Lens } from '../fake-camera/encode/lens.ts'
import type { ServerUnderTest } from '../server-under-test.ts'
import { onePlace, oneTarget, testMark } from '../support/archive/one-place.ts'

export type ClockClip = {
  readonly startMs: number
  readonly seconds: number
  readonly width?: number
  readonly height?: number
  /** H.264 by default. */
  readonly codec?: 'h264' | 'h265'
  /** A silent audio track; none by default. */
  readonly audio?: AudioFormat
}

const framesPerSecond = 5

/**
 * Stops the server while it records. Nothing is recorded between two clips. Returns the ID of the camera, which stays
 * offline.
 */
export async function recordClock(server: ServerUnderTest, clips: readonly ClockClip[]): Promise<number> {
  const owner = ['--user', 'owner@example.com', '--name', 'Clock', '--url', 'rtsp://127.0.0.1:9/none']
  const { id } = await server.command<{ id: number }>('camera', 'add', ...owner, '--type', 'h264', '--record', 'P60D')
  await addClock(server, id, clips)
  return id
}

/** Adds more footage. */
export async function addClock(server: ServerUnderTest, cameraId: number, clips: readonly ClockClip[]): Promise<void> {
  await server.stop()
  await record(server.dataDir, cameraId, clips)
  await server.start()
}

async function record(dataDir: string, cameraId: number, clips: readonly ClockClip[]): Promise<void> {
  const archiveDir = join(dataDir, 'archive')
  await markFolder(archiveDir, testMark)
  const credentialsKey = (await openSecretKey(dataDir)).deriveKey('camera credentials')
  await using store = await openStore({ database: databaseFile(dataDir), credentialsKey, foreignIntervalMs: 0 })
  let nowMs = 0
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async () => {
      await setImmediate()
    },
  }
  const catalog = new Catalog({ rows: store.segments, places: onePlace(archiveDir), clock, log: silentLogger })
  const events = {
    segmentOpened: catalog.segmentOpened.bind(catalog),
    fragmentWritten: catalog.fragmentWritten.bind(catalog),
    segmentClosed: catalog.segmentClosed.bind(catalog),
    segmentBroken: catalog.segmentBroken.bind(catalog),
    statusChanged: () => {},
    gapChanged: () => {},
  }
  const recorder = new CameraRecorder({ cameraId, targets: oneTarget(archiveDir), clock, log: silentLogger, events })
  for (const [index, clip] of clips.entries()) {
    for await (const frameMs of pushClip(recorder, clip, `run-${clip.startMs}-${index}`)) {
      nowMs = frameMs
      while (recorder.stats().queuedBytes > 100_000) await setImmediate()
    }
    recorder.push({ kind: 'end', reason: 'camera_unreachable' })
  }
  await recorder.close()
  await catalog.close()
}

/** Yields the time of each frame that was pushed. */
async function* pushClip(
  recorder: CameraRecorder,
  { startMs, seconds, width = 320, height = 180, codec = 'h264', audio }: ClockClip,
  runId: string,
): AsyncGenerator<number> {
  const size = { codec, width, height, framesPerSecond, gopFrames: framesPerSecond, bFrames: 0 } as const
  using lens = await Lens.open({ ...size, scene: 'yard', title: 'Clock', bitsPerSecond: 500_000, rate: 'limit' })
  const sets = (codec === 'h264' ? h264Codec : h265Codec).createSets()
  for (const set of lens.parameterSets) sets.take(set, 0, set.length)
  const { format } = sets.takeChange()!
  recorder.push({ kind: 'start', runId, format: { video: format, audio: audio } })
  const block = audio && { ...createSilence(audio)![0], rate: audio.sampleRate }
  let blocks = 0
  for (let frameNumber = 0; frameNumber < seconds * framesPerSecond; frameNumber++) {
    const wallMs = startMs + (frameNumber * 1000) / framesPerSecond
    const frame = lens.capture({ unixMs: wallMs, frameNumber }, frameNumber === 0)
    if (!frame) throw new Error('expected an encoder without delay')
    const at90k = (frameNumber * 90_000) / framesPerSecond
    const data = lengthPrefixed(frame.units.filter((unit) => !isParameterSet(unit, codec)))
    recorder.push({ kind: 'video', pts90k: at90k, dts90k: at90k, wallMs, isKey: frame.isKey, data })
    while (block && (blocks * block.samples) / block.rate < (frameNumber + 1) / framesPerSecond) {
      const pts90k = Math.round((blocks++ * block.samples * 90_000) / block.rate)
      recorder.push({ kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true, data: block.data })
    }
    yield wallMs
  }
}

function isParameterSet([first = 0]: Uint8Array, codec: 'h264' | 'h265'): boolean {
  const { vps, sps, pps } = hevcNalType
  const ofCodec: readonly number[] = codec === 'h264' ? [nalType.sps, nalType.pps] : [vps, sps, pps]
  return ofCodec.includes(codec === 'h264' ? nalTypeOf(first) : hevcNalTypeOf(first))
}

function lengthPrefixed(units: readonly Uint8Array[]): Uint8Array {
  const out = Buffer.alloc(units.reduce((sum, { length }) => sum + 4 + length, 0))
  let at = 0
  for (const unit of units) {
    out.writeUInt32BE(unit.length, at)
    out.set(unit, at + 4)
    at += 4 + unit.length
  }
  return out
}
