// From one source to all who play it: the same bytes to everyone, from a place on where each can begin.

import type { FrameCounter } from '../frame-counter.ts'
import type { RtpPosition, RtpTrack } from './rtp-track.ts'

/** Some packets of one track, whole ones, framed for the channels of the track. */
export type Chunk = {
  readonly track: number
  readonly bytes: Uint8Array
  /** A player may begin with this chunk. */
  readonly isStart: boolean
  /** One picture; false for audio and reports. */
  readonly isPicture: boolean
  /** Which picture this is and when it was taken, whatever the camera's own clock says. */
  readonly taken?: FrameCounter
}

/** Who plays: one client on its connection. */
export type Player = {
  /** Called once, before the first chunk: where each track stands, by index. */
  begin(positions: readonly RtpPosition[]): void
  /** Returns false when the bytes are still being held for sending; they must then not be changed. */
  send(chunk: Chunk): boolean
}

export type OutletStats = { players: number; framesSent: number; bytesSent: number }

const reportIntervalMs = 5000

export class Outlet {
  readonly tracks: readonly RtpTrack[]
  readonly #waiting = new Set<Player>()
  readonly #playing = new Set<Player>()
  #framesSent = 0
  #bytesSent = 0
  #reportDueMs = Number.NEGATIVE_INFINITY
  /** When the timestamps shall wrap, of tracks that shall begin anew. */
  #restartWrapSeconds: number | undefined

  /** What was sent since the last key frame began, and where the tracks stood then; undefined when none is kept. */
  readonly #kept: { positions: readonly RtpPosition[]; chunks: Chunk[] } | undefined

  /** `keepsGroup`: who begins to play gets all that was sent since the last key frame. */
  constructor(tracks: readonly RtpTrack[], keepsGroup = false) {
    this.tracks = tracks
    if (keepsGroup) this.#kept = { positions: [], chunks: [] }
  }

  attach(player: Player): void {
    this.#waiting.add(player)
  }

  detach(player: Player): void {
    this.#waiting.delete(player)
    this.#playing.delete(player)
  }

  get playerCount(): number {
    return this.#waiting.size + this.#playing.size
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /**
   * Lets those who wait begin here, or with the group that is kept. `seconds` = time of the stream of what comes next. To be
   * called before the packets are written, so that the positions are theirs.
   */
  begin(seconds: number, isKey: boolean): void {
    if (this.#restartWrapSeconds !== undefined) {
      for (const track of this.tracks) track.restart(seconds, this.#restartWrapSeconds)
      this.#restartWrapSeconds = undefined
      this.expectReport()
      if (this.#kept) this.#kept.chunks = []
    }
    if (this.#waiting.size === 0 && !(isKey && this.#kept)) return
    const positions = this.tracks.map((track) => ({ sequence: track.sequence, timestamp: track.timestampAt(seconds) }))
    if (isKey && this.#kept) Object.assign(this.#kept, { positions, chunks: [] })
    const kept = this.#kept?.chunks.length ? this.#kept : undefined
    for (const player of this.#waiting) {
      this.#playing.add(player)
      player.begin(kept?.positions ?? positions)
      for (const chunk of kept?.chunks ?? []) player.send(chunk)
    }
    this.#waiting.clear()
    this.#reportDueMs = Number.NEGATIVE_INFINITY
  }

  /** True when the chunk's bytes are free to be used again. */
  deliver(chunk: Chunk): boolean {
    this.#kept?.chunks.push({ ...chunk, bytes: chunk.bytes.slice() })
    let isFree = true
    for (const player of this.#playing) isFree = player.send(chunk) && isFree
    if (this.#playing.size > 0) {
      if (chunk.isPicture) this.#framesSent++
      this.#bytesSent += chunk.bytes.length * this.#playing.size
    }
    return isFree
  }

  /** Sends the reports of all tracks when they are due: at the start of a player and every 5 s. */
  report(monotonicMs: number, unixMs: number, seconds: number): void {
    if (monotonicMs < this.#reportDueMs) return
    this.#reportDueMs = monotonicMs + reportIntervalMs
    for (const [index, track] of this.tracks.entries()) {
      const bytes = track.writeReport(unixMs, track.timestampAt(seconds))
      this.deliver({ track: index, bytes, isStart: false, isPicture: false })
    }
  }

  /** Before the next picture all tracks begin anew, see `RtpTrack.restart`. */
  restartTracks(wrapSeconds: number): void {
    this.#restartWrapSeconds = wrapSeconds
  }

  /** The next reports are sent at once: the clock has jumped. */
  expectReport(): void {
    this.#reportDueMs = Number.NEGATIVE_INFINITY
  }

  stats(): OutletStats {
    return { players: this.playerCount, framesSent: this.#framesSent, bytesSent: this.#bytesSent }
  }
}
