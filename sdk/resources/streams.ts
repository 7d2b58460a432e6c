// Recorded streams that are being played: where they are, and the server's controls of them.

import type { Call, CallOptions } from '../call.ts'
import { NightjarError } from '../error.ts'
import type { RecordedStream } from '../generated/objects.ts'
import { type Http, readError } from '../http.ts'

export type Streams = ReturnType<typeof createStreams>

export const createStreams = (call: Call, http: Http) => {
  /** The address alone is the credential. */
  const post = async (path: string, options?: CallOptions): Promise<void> => {
    const answer = await http.send({ method: 'POST', path, ...options })
    if (answer.status >= 300) throw readError(answer)
  }
  return {
    /** Where it is being played. */
    getInfo: (stream: Pick<RecordedStream, 'stream_info'>, options?: CallOptions) =>
      call('getStreamInfo', { params: readInfoAddress(stream.stream_info) }, options),
    /** Lets the playlist grow (again). */
    play: ({ stream_controls }: RecordedStream, options?: CallOptions) => post(stream_controls.play, options),
    /** Keeps the playlist as it is; what it lists can still be fetched. */
    pause: ({ stream_controls }: RecordedStream, options?: CallOptions) => post(stream_controls.pause, options),
    /** 1, 2, 4, 8 or 16. From what was fetched last: a player loads the playlist anew and begins at its first entry. */
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
