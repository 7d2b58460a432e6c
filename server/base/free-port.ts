// Finds a port for a server whose URL must be known before it listens.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to outgoing connections (RFC 6335, Linux), of which one might take the port meanwhile. */
const first = 20_000
const end = 32_768
const attempts = 100

/** A TCP port that nobody listens on at the moment, the first such that `choose` returns. Throws the system's error. */
export async function findFreePort(
  host: string,
  choose: () => number | Promise<number> = () => randomInt(first, end),
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = await choose()
    const probe = createServer().listen(port, host)
    try {
      await once(probe, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && attempt < attempts) continue
      throw error
    }
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}
