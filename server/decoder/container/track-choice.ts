// Chooses the streams of a container: the first video and the first audio stream. Containers announce their streams at
// different times, so packets are held back until both are known, or until it is clear that there is no audio.

import type { ContainerTracks } from '../../media/container/container-stream.ts'
import type { ContainerStream, LibavContainer, StreamPacket } from './libav-container.ts'

/**
 * If no audio arrives within this much of a stream that may have some, there is none. With announced audio, the limit
 * is twice that.
 */
const maxWait90k = 90_000
const maxHeldPackets = 500
const maxHeldBytes = 16 * 1024 * 1024

export class TrackChoice {
  readonly #container: Pick<LibavContainer, 'findStream' | 'isComplete'>
  #held: StreamPacket[] = []
  #heldBytes = 0
  #video: ContainerStream | undefined
  #audio: ContainerStream | undefined
  #isMade = false

  constructor(container: Pick<LibavContainer, 'findStream' | 'isComplete'>) {
    this.#container = container
  }

  /**
   * Returns the packets that can be sent after this one, with `tracks` before the first. `no_video`: the container has
   * no video.
   */
  take(packet: StreamPacket): { readonly tracks?: ContainerTracks; readonly packets: StreamPacket[] } | 'no_video' {
    if (this.#isMade) return { packets: this.#isChosen(packet) ? [packet] : [] }
    if (packet.kind === 'video') this.#video ??= packet.stream
    else this.#audio ??= packet.stream
    this.#held.push(packet)
    this.#heldBytes += packet.data.length
    if (!this.#isDue()) return { packets: [] }
    return this.make()
  }

  /** Chooses from the packets so far. */
  make(): { readonly tracks?: ContainerTracks; readonly packets: StreamPacket[] } | 'no_video' {
    if (this.#isMade) return { packets: [] }
    if (!this.#video) return 'no_video'
    this.#isMade = true
    const packets = this.#held.filter((packet) => this.#isChosen(packet))
    this.#held = []
    return { tracks: describeTracks(this.#video, this.#audio), packets }
  }

  #isChosen({ stream }: StreamPacket): boolean {
    return stream === this.#video || stream === this.#audio
  }

  #isDue(): boolean {
    if (this.#held.length >= maxHeldPackets || this.#heldBytes >= maxHeldBytes) return true
    const announced = this.#container.findStream(this.#video ? 'audio' : 'video')
    if (this.#video) {
      if (announced?.isKnown) this.#audio = announced
      if (this.#audio || (!announced && this.#container.isComplete)) return true
    }
    const times = this.#held.flatMap(({ pts90k }) => (pts90k === undefined ? [] : [pts90k]))
    return Math.max(...times) - Math.min(...times) > (announced ? 2 : 1) * maxWait90k
  }
}

function describeTracks(video: ContainerStream, audio: ContainerStream | undefined): ContainerTracks {
  const { codec, config } = video
  return {
    video: { codec, config },
    audio: audio && {
      codec: audio.codec,
      config: audio.codec === 'aac' ? audio.config : new Uint8Array(),
      sampleRate: audio.sampleRate,
      channels: audio.channels,
    },
  }
}
