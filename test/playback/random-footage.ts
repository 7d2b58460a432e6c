// A random camera, generated from a seed and recorded by the real recorder: runs, formats, changing audio, losses,
// pauses, outages, clock changes, disk failures and restarts. Every frame carries its number, and its expected state is
// tracked.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { GapReason } from '../../contract/gap-reasons.ts'
import { Catalog } from '../../server/archive/catalog.ts'
import type { Clock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import { SilenceFiller } from '../../server/ingest/frames/silence-filler.ts'
import type { StreamFormat } from '../../server/media/frame.ts'
import { createSilence } from '../../server/media/telephony/silence.ts'
import type { GapMark } from '../../server/model/gap-mark.ts'
import { markerName } from '../../server/places/place-folder.ts'
import { CameraRecorder } from '../../server/recorder/recorder.ts'
import { createNodeDisk, type RecordingDisk } from '../../server/recorder/recording-disk.ts'
import { MemorySegmentRows } from '../support/archive/memory-segment-rows.ts'
import { onePlace, oneTarget } from '../support/archive/one-place.ts'
import {
  type SyntheticOptions,
  syntheticFormat,
  syntheticFrames,
  syntheticStartMs,
} from '../support/media/synthetic-frames.ts'

export type SentFrame = {
  readonly number: number
  /** The wall clock time that the recorder received. */
  readonly wallMs: number
  /** Time without frames just before it, because of lost frames or an outage of the camera or disk. */
  readonly missingMs: number
  readonly isPause: boolean
  /** It arrived while the disk failed or recovered, so it may be missing from the recording. */
  isDoubtful: boolean
}

export type Mix = Readonly<Partial<Record<Action, number>>>
type Action = 'play' | 'loss' | 'pause' | 'audio' | 'format' | 'end' | 'clock' | 'disk' | 'restart' | 'rate'

export class RandomFootage {
  readonly rows = new MemorySegmentRows()
  readonly archiveDir = mkdtempSync(join(tmpdir(), 'nightjar-random-'))
  readonly sent: SentFrame[] = []
  readonly actions: string[] = []
  readonly marks: GapMark[] = []
  readonly clock: Clock & { steadyMs: number; setMs: number }
  readonly catalog: Catalog
  readonly #random: () => number
  readonly #mix: Mix
  readonly #reorders: boolean
  #recorder: CameraRecorder | undefined
  #runs = 0
  #options: SyntheticOptions = {}
  #format: StreamFormat = syntheticFormat()
  #filler: SilenceFiller | undefined
  #units: readonly Uint8Array[] = []
  #interval90k = 3600
  #gop = 25
  #inGop = 0
  #dts90k = 0
  #blocks = 0
  #hasAudio = true
  #audioLate90k = 0
  #missingMs = 0
  #isPause = false
  #isAfterLoss = false
  #doubtfulUntil = -1
  #failing: { kind: 'write' | 'sync'; times: number } | undefined
  #usesRecovery = false

  constructor(seed: number, mix: Mix, { reorders = false } = {}) {
    this.#random = createRandom(seed)
    this.#mix = mix
    this.#reorders = reorders
    const clock = {
      steadyMs: syntheticStartMs,
      setMs: 0,
      nowMs: () => clock.steadyMs + clock.setMs,
      monotonicMs: () => clock.steadyMs,
      sleep: async () => {
        await setImmediate()
      },
    }
    this.clock = clock
    writeFileSync(join(this.archiveDir, markerName), '')
    this.catalog = new Catalog({ rows: this.rows, places: onePlace(this.archiveDir), clock, log: silentLogger })
  }

  async record(steps: number): Promise<void> {
    this.#beginRun(undefined)
    await this.#play(this.#between(3, 10))
    for (let step = 0; step < steps; step++) {
      await this.#do(this.#draw())
      // Sometimes there is only one frame between two actions.
      await this.#play(this.#chance(0.25) ? 0.001 : this.#between(0.2, this.#chance(0.3) ? 30 : 6))
    }
    await this.#play(3)
    await this.#stop('stopped_by_user')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.archiveDir, { recursive: true })
  }

  #draw(): Action {
    const all = Object.entries(this.#mix) as [Action, number][]
    let at = this.#random() * all.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [action, weight] of all) if ((at -= weight) < 0) return action
    return 'play'
  }

  async #do(action: Action): Promise<void> {
    const { clock } = this
    this.actions.push(`${((clock.steadyMs - syntheticStartMs) / 1000).toFixed(2)} #${this.sent.length} ${action}`)
    if (action === 'loss') this.#lose(this.#between(0.05, 5))
    else if (action === 'pause') this.#pause(this.#between(0.2, this.#chance(0.2) ? 14 : 4))
    else if (action === 'audio') {
      this.#hasAudio = this.#chance(0.5)
      this.#audioLate90k = this.#between(0, 0.4) * 90_000
    } else if (action === 'rate') {
      this.#interval90k = 90_000 / this.#pick([5, 12.5, 15, 25, 30, 60])
    } else if (action === 'format') {
      this.#filler?.endRun()
      this.#chooseFormat()
      this.#passMs(this.#between(0, 200))
      this.#beginRun(undefined)
    } else if (action === 'end') {
      await this.#end('camera_unreachable', this.#between(0.1, 20))
    } else if (action === 'clock') {
      const byMs = Math.round(this.#between(2, this.#pick([4, 30, 7200])) * 1000) * this.#pick([-1, 1])
      const wasOffline = this.#chance(0.3)
      if (wasOffline) {
        this.#filler?.endRun()
        this.#recorder!.push({ kind: 'end', reason: 'camera_unreachable' })
        this.#passMs(this.#between(100, 5000))
      } else this.#filler?.endRun()
      clock.setMs += byMs
      if (this.#chance(0.2)) clock.setMs += this.#pick([-1, 1]) * 3000
      this.#beginRun(byMs)
    } else if (action === 'disk') {
      this.#failing = { kind: this.#pick(['write', 'sync']), times: this.#chance(0.5) ? 1 : 3 }
      this.#doubtfulUntil = this.sent.length + 90_000_000
      for (let i = 1; i < 600 && i <= this.sent.length; i++) this.sent[this.sent.length - i]!.isDoubtful = true
    } else if (action === 'restart') {
      await this.#stop('server_down')
      this.#passMs(this.#between(500, 8000))
      this.#beginRun(undefined, 'server_down')
    }
  }

  #chooseFormat(): void {
    this.#options = {
      width: this.#pick([48, 64, 80]),
      height: 48,
      ...(this.#chance(0.7) && { audioSampleRate: this.#pick([8000, 16000, 44100, 48000] as const) }),
    }
    this.#format = syntheticFormat(this.#options)
    this.#units = createUnits(this.#options)
  }

  #beginRun(clockSetMs: number | undefined, startReason?: GapReason): void {
    if (this.#runs === 0) this.#chooseFormat()
    this.#recorder ??= this.#createRecorder(startReason)
    this.#usesRecovery = this.#chance(0.2)
    this.#gop = this.#pick([10, 25, 50, 250])
    const { audio } = this.#format
    this.#filler = audio && new SilenceFiller(audio, createSilence(audio)!, (frame) => this.#recorder!.push(frame))
    this.#filler?.beginRun()
    const runId = `run-${this.#runs++}`
    this.#recorder.push({ kind: 'start', runId, format: this.#format, ...(clockSetMs !== undefined && { clockSetMs }) })
    this.#dts90k = 0
    this.#blocks = 0
    this.#inGop = 0
    this.#isAfterLoss = false
  }

  async #end(reason: GapReason, seconds: number): Promise<void> {
    this.#filler?.endRun()
    this.#recorder!.push({ kind: 'end', reason })
    this.#passMs(seconds * 1000)
    this.#beginRun(undefined)
  }

  async #stop(reason: GapReason): Promise<void> {
    this.#filler?.endRun()
    const recorder = this.#recorder!
    this.#recorder = undefined
    await recorder.close(reason)
    await this.catalog.flush()
  }

  #lose(seconds: number): void {
    const frames = Math.ceil((seconds * 90_000) / this.#interval90k)
    const passed = this.#inGop + frames
    // Frames are dropped up to the next key frame.
    const dropped = passed <= this.#gop ? this.#gop - this.#inGop : frames + (this.#gop - (passed % this.#gop))
    if ((dropped * this.#interval90k) / 90_000 > 25) return
    for (let i = 0; i < dropped; i++) {
      this.#advance(this.#interval90k)
      this.#sendAudio(Math.round(this.#dts90k), this.clock.nowMs())
    }
    this.#inGop = 0
    this.#isAfterLoss = true
    this.#missingMs += (dropped * this.#interval90k) / 90
  }

  #pause(seconds: number): void {
    const isSilent = this.#chance(0.5)
    const hadAudio = this.#hasAudio
    if (isSilent) this.#hasAudio = false
    for (let left90k = Math.round(seconds * 90_000); left90k > 0; left90k -= 9000) {
      this.#advance(Math.min(left90k, 9000))
      this.#sendAudio(Math.round(this.#dts90k), this.clock.nowMs())
    }
    this.#hasAudio = hadAudio
    this.#missingMs += seconds * 1000
    this.#isPause = true
    // After this long, frames that refer to earlier frames are not recorded.
    if (this.#chance(0.3) || seconds > 9) this.#inGop = 0
  }

  #passMs(ms: number): void {
    this.clock.steadyMs += ms
    this.#missingMs += ms
  }

  #advance(ticks90k: number): void {
    this.#dts90k += ticks90k
    this.clock.steadyMs += ticks90k / 90
  }

  async #play(seconds: number): Promise<void> {
    const until90k = this.#dts90k + seconds * 90_000
    while (this.#dts90k < until90k) {
      this.#sendFrame()
      if (this.sent.length % 40 === 0) await this.#settle()
    }
    await this.#settle()
  }

  #sendFrame(): void {
    const isKey = this.#inGop % this.#gop === 0
    const number = this.sent.length
    const wallMs = Math.round(this.clock.nowMs())
    const dts90k = Math.round(this.#dts90k)
    this.sent.push({
      number,
      wallMs,
      missingMs: this.#missingMs,
      isPause: this.#isPause,
      isDoubtful: this.#doubtfulUntil >= number,
    })
    this.#missingMs = 0
    this.#isPause = false
    this.#filler?.takeVideo(dts90k, wallMs)
    const data = numbered(number, this.#units[isKey ? 0 : this.#inGop]!)
    const isRecovery = isKey && this.#usesRecovery && number % 2 === 1
    const shown = this.#reorders ? [2, 3, 0, 1][this.#inGop % 4]! * 100 : 0
    this.#recorder!.push({
      kind: 'video',
      pts90k: dts90k + shown,
      dts90k,
      wallMs,
      isKey,
      isAfterLoss: this.#isAfterLoss,
      data,
      ...(isRecovery && { recovery: 0 }),
    })
    this.#isAfterLoss = false
    this.#inGop = isKey ? 1 : this.#inGop + 1
    if (this.#inGop >= this.#gop) this.#inGop = 0
    this.#sendAudio(dts90k, wallMs)
    this.#advance(this.#interval90k)
  }

  #sendAudio(dts90k: number, frameMs: number): void {
    const { audio } = this.#format
    if (!audio) return
    for (;;) {
      const pts90k = Math.round((this.#blocks * 1024 * 90_000) / audio.sampleRate)
      if (pts90k + this.#audioLate90k > dts90k) return
      this.#blocks++
      const data = Uint8Array.of(0x00, 0xc8, 0x00, 0x80, 0x23, 0x80)
      const wallMs = frameMs + (pts90k - dts90k) / 90
      if (this.#hasAudio) this.#filler!.takeBlock({ kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true, data })
    }
  }

  async #settle(): Promise<void> {
    const recorder = this.#recorder
    recorder?.tick()
    while (recorder && recorder.stats().queuedBytes > 0) await setImmediate()
    await this.catalog.flush()
    if (this.#failing === undefined && this.#doubtfulUntil > 1e6) this.#doubtfulUntil = this.sent.length + 2000
  }

  #createRecorder(startReason?: GapReason): CameraRecorder {
    const { catalog: events, clock, archiveDir } = this
    return new CameraRecorder({
      cameraId: 1,
      targets: oneTarget(archiveDir, this.#createDisk()),
      clock,
      log: silentLogger,
      segmentMs: 20_000,
      ...(startReason && { startReason }),
      events: {
        segmentOpened: events.segmentOpened.bind(events),
        fragmentWritten: events.fragmentWritten.bind(events),
        segmentClosed: events.segmentClosed.bind(events),
        segmentBroken: events.segmentBroken.bind(events),
        statusChanged: () => {},
        gapChanged: (_, reason) => this.marks.push({ atMs: clock.nowMs(), reason }),
      },
    })
  }

  #createDisk(): RecordingDisk {
    const disk = createNodeDisk(this.archiveDir)
    const fail = (kind: 'write' | 'sync') => {
      if (this.#failing?.kind !== kind) return
      if (--this.#failing.times <= 0) this.#failing = undefined
      throw Object.assign(new Error('the disk failed'), { code: 'EIO' })
    }
    return {
      ...disk,
      createFile: async (path) => {
        const file = await disk.createFile(path)
        return {
          write: async (buffers, position) => {
            fail('write')
            await file.write(buffers, position)
          },
          truncate: (bytes) => file.truncate(bytes),
          sync: async () => {
            fail('sync')
            await file.sync()
          },
          close: () => file.close(),
        }
      },
    }
  }

  #between(from: number, to: number): number {
    return from + this.#random() * (to - from)
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)]!
  }
}

const marker = Buffer.from('nightjar-number!', 'latin1')

/** Prepends an SEI message with the frame's number. H.264 D.1.6. */
function numbered(number: number, unit: Uint8Array): Uint8Array {
  const digits = [21, 14, 7, 0].map((shift) => ((number >> shift) & 0x7f) | 0x80)
  const message = Uint8Array.of(6, 5, 20, ...marker, ...digits, 0x80)
  const out = Buffer.alloc(4 + message.length + unit.length)
  out.writeUInt32BE(message.length)
  out.set(message, 4)
  out.set(unit, 4 + message.length)
  return out
}

/** Reads the number from a frame's bytes. */
export function readNumber(data: Uint8Array): number {
  const at = Buffer.from(data.buffer, data.byteOffset, data.length).indexOf(marker)
  if (at < 0) throw new Error('a frame without a number')
  return data.subarray(at + 16, at + 20).reduce((sum, digit) => (sum << 7) | (digit & 0x7f), 0)
}

/** Repeats one group of pictures endlessly. */
function createUnits({ width = 64, height = 48 }: SyntheticOptions): readonly Uint8Array[] {
  const units: Uint8Array[] = []
  for (const { data } of syntheticFrames({ width, height, gopFrames: 1000 })) {
    units.push(data)
    if (units.length === 300) break
  }
  return units
}

/** mulberry32 */
function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
