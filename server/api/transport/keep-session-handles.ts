// Keeps the native handle of an HTTP/2 session alive until the handles of its streams are gone. Node 24 leaves a stream
// that is destroyed while its data is being written to the garbage collection. Header fields that never ended still
// belong to the memory of the session. If the session is collected first, an assertion in Node ends the process, which a
// client could provoke with half a trailer and a response that it does not read.

import type { Http2SecureServer, Http2Session, ServerHttp2Stream } from 'node:http2'

/** The handle has no public name. If it is missing, Node has changed, and nothing is kept alive. */
function findHandle(of: Http2Session | ServerHttp2Stream): object | undefined {
  const symbol = Object.getOwnPropertySymbols(of).find(({ description }) => description === 'kHandle')
  return symbol && (of as unknown as { readonly [symbol]: object | undefined })[symbol]
}

/** Call this once for each server. */
export function keepSessionHandles(server: Http2SecureServer): void {
  /** Holds the handle of the session until that of the stream has been collected. */
  const sessions = new FinalizationRegistry<object>(() => {})
  server.prependListener('stream', (stream: ServerHttp2Stream) => {
    const session = stream.session && findHandle(stream.session)
    const own = findHandle(stream)
    if (session && own) sessions.register(own, session)
  })
}
