// A player of recorded streams that follows the rules of HLS: reloads the playlist repeatedly, fetches each entry once
// and in order, and reports violations. It displays nothing.

import assert from 'node:assert/strict'
import type { MediaBody, MediaBytes } from '../../server/playback/media-bytes.ts'
import type { Playback } from '../../server/playback/playback.ts'
import {
  type CheckedEntry,
  type CheckedPlaylist,
  checkMedia,
  checkNextPlaylist,
  checkPlaylist,
} from './check-playlist.ts'

export type PlayedEntry = CheckedEntry & { readonly init: Uint8Array; readonly bytes: Uint8Array }

type Source = Pick<Playback, 'playlist' | 'openBytes' | 'getStreamInfo' | 'setSpeed'>

export class StreamPlayer {
  #source: Source
  readonly #id: string
  #playlist: CheckedPlaylist | undefined
  #next: number | undefined
  #speed = 1
  readonly played: PlayedEntry[] = []

  constructor(source: Source, id: string) {
    this.#source = source
    this.#id = id
  }

  get playlist(): CheckedPlaylist {
    assert.ok(this.#playlist, 'nothing is loaded')
    return this.#playlist
  }

  get source(): Source {
    return this.#source
  }

  /** Continues after a restart of the server. */
  moveTo(source: Source): void {
    this.#source = source
  }

  /** Continues with entries of another speed. */
  set speed(speed: number) {
    this.#speed = speed
  }

  async load(): Promise<CheckedPlaylist> {
    const playlist = checkPlaylist(await this.#source.playlist(this.#id), { speed: this.#speed })
    assert.deepEqual(playlist.faults, [])
    if (this.#playlist) assert.deepEqual(checkNextPlaylist(this.#playlist, playlist), [])
    this.#playlist = playlist
    return playlist
  }

  /** Fetches up to `count` more of the listed entries and returns how many there were. */
  async fetch(count: number): Promise<number> {
    const [first] = this.playlist.entries
    this.#next = Math.max(this.#next ?? 0, first?.sequence ?? 0)
    let fetched = 0
    for (; fetched < count; fetched++) {
      const entry = this.playlist.entries[this.#next - first!.sequence]
      if (!entry) break
      await this.#fetchEntry(entry)
      this.#next++
    }
    return fetched
  }

  /** Plays until the end, or until no more entries are listed. */
  async play(entriesEach = 20): Promise<PlayedEntry[]> {
    for (;;) {
      await this.load()
      const count = await this.fetch(entriesEach)
      const last = this.playlist.entries.at(-1)
      if (this.playlist.isEnded && (!last || this.#next! > last.sequence)) return this.played
      if (count === 0) return this.played
    }
  }

  async #fetchEntry(entry: CheckedEntry): Promise<void> {
    // Fetches the section each time, as a player without a cache does.
    const init = await this.#fetchMap(entry.map)
    const { range, uri } = entry
    const header = range && `bytes=${range.offset}-${range.offset + range.bytes - 1}`
    const bytes = await readBytes(await this.#source.openBytes(this.#id, uri, header))
    assert.deepEqual(checkMedia(entry, init, bytes), [])
    this.played.push({ ...entry, init, bytes })
  }

  async #fetchMap(map: string): Promise<Uint8Array> {
    const [, uri] = /URI="(.*?)"/.exec(map) ?? []
    const [, bytes, offset] = /BYTERANGE="(\d+)@(\d+)"/.exec(map) ?? []
    const range = bytes === undefined ? undefined : `bytes=${offset}-${Number(offset) + Number(bytes) - 1}`
    return readBytes(await this.#source.openBytes(this.#id, uri!, range))
  }
}

export async function readBytes(bytes: MediaBytes, bufferBytes?: number): Promise<Buffer> {
  assert.ok(bytes.status !== 416)
  return readBody(bytes.body, bufferBytes)
}

/** Into a buffer of so many bytes. */
export async function readBody(body: MediaBody, bufferBytes = 256 * 1024): Promise<Buffer> {
  await using _ = body
  const buffer = new Uint8Array(bufferBytes)
  const chunks: Buffer[] = []
  for (let bytes = await body.read(buffer); bytes > 0; bytes = await body.read(buffer)) {
    chunks.push(Buffer.from(buffer.subarray(0, bytes)))
  }
  return Buffer.concat(chunks)
}
