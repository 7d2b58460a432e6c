// What a container brings: the first bytes of an answer, and the messages of the process that takes it apart, which a camera may have taken over.

import assert from 'node:assert/strict'
import { systemClock } from '../../../server/base/clock.ts'
import { parseContainerMessage, writeContainerMessage } from '../../../server/decoder/container/container-protocol.ts'
import { MessageReader } from '../../../server/decoder/message-stream.ts'
import { ArrivalClock } from '../../../server/ingest/clock/arrival-clock.ts'
import { createCameraStats } from '../../../server/ingest/frames/camera-stats.ts'
import { CameraStream } from '../../../server/ingest/frames/camera-stream.ts'
import { type ContainerPlan, planContainer } from '../../../server/ingest/plan/container-plan.ts'
import { findAdtsHeader } from '../../../server/media/aac/adts-header.ts'
import { findContainer } from '../../../server/media/container/find-container.ts'
import { writeAdtsHeader } from '../../../server/media/mpegts/adts.ts'
import { syntheticFormat, syntheticFrames } from '../../support/media/synthetic-frames.ts'
import type { FuzzTarget } from '../fuzz-target.ts'
import { catchOwn, few } from '../own-error.ts'

const { video, audio: aac } = syntheticFormat({ audioSampleRate: 8000 })

/** Two groups of pictures and their audio, as the process tells them. */
function writeStream(): Uint8Array {
  const audio = { codec: 'aac', config: aac!.config, sampleRate: 8000, channels: 1 }
  const tracks = { video: { codec: 'h264', config: video.config }, audio }
  const messages = [writeContainerMessage({ type: 'tracks', tracks })]
  for (const { kind, pts90k, data } of syntheticFrames({ audioSampleRate: 8000, gopFrames: 3 })) {
    if (pts90k > 20_000) break
    messages.push(writeContainerMessage({ type: 'packet', packet: { kind, pts90k, data } }))
  }
  messages.push(writeContainerMessage({ type: 'end', end: { kind: 'ended' } }))
  return new Uint8Array(Buffer.concat(messages))
}

const messages: FuzzTarget = {
  name: 'container',
  seeds: () => [writeStream()],
  words: ['h264', 'hevc', 'aac', 'opus', 'pcm_alaw', '\0\0\0\x01'],
  run(input) {
    const seen = { start: 0, video: 0, audio: 0, end: 0 }
    let dts = { video: -1, audio: -1 }
    let plan: ContainerPlan | undefined
    let stream: CameraStream | undefined
    const begin = (found: ContainerPlan) => {
      plan = found
      stream ??= new CameraStream({
        plan: found,
        arrivalClock: new ArrivalClock(systemClock),
        stats: createCameraStats(),
        floorMs: 0,
        createRunId: () => 'run',
        onRun: () => {},
        publish(item) {
          seen[item.kind]++
          if (item.kind === 'start') dts = { video: -1, audio: -1 }
          else if (item.kind !== 'end') {
            assert.ok(Number.isSafeInteger(item.dts90k) && item.dts90k > dts[item.kind], `${item.kind} ${item.dts90k}`)
            dts[item.kind] = item.dts90k
          }
        },
      })
    }
    const problem = catchOwn(() => {
      for (const message of new MessageReader().push(input)) {
        const told = parseContainerMessage(message)
        if (told.type === 'tracks') begin(planContainer(told.tracks))
        if (told.type !== 'packet' || !plan || !stream) continue
        const { kind, pts90k = 0, data } = told.packet
        if (kind === 'audio') stream.takeAudioPayload(data, pts90k)
        else stream.takeAccessUnit(plan.listNalUnits(data), pts90k)
      }
    })
    return `${problem ?? 'all'} ${few(seen.start)} ${few(seen.video)} ${few(seen.audio)}`
  },
}

const heads: FuzzTarget = {
  name: 'container head',
  seeds: () => [
    new Uint8Array(Buffer.from('1a45dfa39f428681', 'hex')),
    new Uint8Array(Buffer.from('FLV\x01\x05')),
    new Uint8Array(Buffer.from('\0\0\0\x18ftypisom')),
    new Uint8Array(Buffer.from('#EXTM3U\n')),
    writeAdtsHeader(aac!.config, 100),
  ],
  run(input) {
    const found = findContainer(input)
    const header = findAdtsHeader(input)
    if (header) assert.ok(header.blockBytes > header.headerBytes && header.config.length === 2)
    return `${JSON.stringify(found)} ${header?.headerBytes}`
  },
}

export const containerTargets: readonly FuzzTarget[] = [messages, heads]
