// Keeps the native part of a session of HTTP/2 until those of its streams are gone. Node (24) leaves a stream that is
// destroyed while something of it is on its way into the socket to the collection of garbage. Fields of a head that
// never ended still belong to the session's memory then, and when the session is collected first, a check in Node ends
// the process: anybody could do it with half a trailer and an answer that they did not take.

import type { Http2SecureServer, Http2Session, ServerHttp2Stream } from 'node:http2'

/** By no public name; where there is none, Node has changed, and nothing is kept. */
function findHandle(of: Http2Session | ServerHttp2Stream): object | undefined {
  const symbol = Object.getOwnPropertySymbols(of).find(({ description }) => description === 'kHandle')
  return symbol && (of as unknown as { readonly [symbol]: object | undefined })[symbol]
}

/** To be called once for each server. */
export function keepSessionsOfStreams(server: Http2SecureServer): void {
  /** Holds the handle of the session until that of the stream has been collected. */
  const sessions = new FinalizationRegistry<object>(() => {})
  server.prependListener('stream', (stream: ServerHttp2Stream) => {
    const session = stream.session && findHandle(stream.session)
    const own = findHandle(stream)
    if (session && own) sessions.register(own, session)
  })
}
