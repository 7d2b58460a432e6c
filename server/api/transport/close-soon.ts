// Ends a connection whose peer is being told why. Closing at once, with bytes of the peer unread, would reset it and
// lose the words.

import type { Socket } from 'node:net'

const lingerMs = 2_000

/** After `socket.end(…)`: discards what still comes, and closes when the peer does or a moment later. */
export function closeSoon(socket: Socket): void {
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}
