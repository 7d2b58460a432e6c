// Recorded streams that are being played: where they are, and the server's controls of them.

import type { Call, CallOptions } from '../call.ts'
import { NightjarError } from '../error.ts'
import type { RecordedStream } from '../generated/objects.ts'
import { type Http, readError } from '../http.ts'

export type Streams = ReturnType<typeof createStreams>

export const createStreams = (call: Call, http: Http) => {
  /** The stream's URL is the only credential. */
  const post = async (path: string, options?: CallOptions): Promise<void> => {
    const answer = await http.send({ method: 'POST', path, ...options })
    if (answer.status >= 300) throw readError(answer)
  }
  return {
    /** The time that the player requested last. */
    getInfo: (stream: Pick<RecordedStream, 'stream_info'>, options?: CallOptions) =>
      call('getStreamInfo', { params: readInfoAddress(stream.stream_info) }, options),
    /** Lets the playlist grow, also after a pause. */
    play: ({ stream_controls }: RecordedStream, options?: CallOptions) => post(stream_controls.play, options),
    /** Stops the playlist from growing. Its entries can still be fetched. */
    pause: ({ stream_controls }: RecordedStream, options?: CallOptions) => post(stream_controls.pause, options),
    /**
     * Sets the speed (1, 2, 4, 8 or 16) after the last fetched entry. Players must reload the playlist and start at its
     * first entry.
     */
    setSpeed: ({ stream_controls }: RecordedStream, speed: number, options?: CallOptions) =>
      post(`${stream_controls.speed}?speed=${speed}`, options),
  }
}

/** `…/v1/recording/stream/{streamer_name}/{streamer_id}/` */
function readInfoAddress(url: string) {
  const [, streamer_name, streamer_id] = /\/recording\/stream\/([^/]+)\/([^/]+)\/?$/.exec(new URL(url).pathname) ?? []
  if (streamer_name === undefined || streamer_id === undefined) {
    throw new NightjarError({ status: 0, title: 'invalid_answer', detail: `Not the address of a stream: ${url}` })
  }
  return { streamer_name: decodeURIComponent(streamer_name), streamer_id: decodeURIComponent(streamer_id) }
}
