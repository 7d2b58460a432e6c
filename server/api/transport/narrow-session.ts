// Lets a connection of HTTP/2 have one stream at a time, for a while, when its client or others at the address have all
// that they may. A stream that is refused by us costs the server a tenth of a millisecond; beyond what the client was
// told, the C library refuses it by itself.

import type { Http2Session } from 'node:http2'

export const maxStreamsOfSession = 200

const narrowMs = 2_000

const narrowed = new WeakSet<Http2Session>()

/** At once, whether the client has read it or not. A client that never says it has stays with one. */
export function narrowSession(session: Http2Session): void {
  if (session.destroyed || session.closed || narrowed.has(session)) return
  narrowed.add(session)
  session.settings({ maxConcurrentStreams: 1 }, () => {
    setTimeout(() => {
      if (session.destroyed || session.closed) return
      session.settings({ maxConcurrentStreams: maxStreamsOfSession }, () => narrowed.delete(session))
    }, narrowMs).unref()
  })
}
