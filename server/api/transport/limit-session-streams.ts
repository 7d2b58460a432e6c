// Limits an HTTP/2 connection to one stream at a time for a short while, after its client or other clients at the same IP
// address have reached their limit. Refusing a stream here costs a tenth of a millisecond; streams beyond the announced
// limit are refused by the C library.

import type { Http2Session } from 'node:http2'

export const maxStreamsOfSession = 200

const limitMs = 2_000

const limited = new WeakSet<Http2Session>()

/** Takes effect immediately. The limit ends only after the client has acknowledged it. */
export function limitSessionStreams(session: Http2Session): void {
  if (session.destroyed || session.closed || limited.has(session)) return
  limited.add(session)
  session.settings({ maxConcurrentStreams: 1 }, () => {
    setTimeout(() => {
      if (session.destroyed || session.closed) return
      session.settings({ maxConcurrentStreams: maxStreamsOfSession }, () => limited.delete(session))
    }, limitMs).unref()
  })
}
