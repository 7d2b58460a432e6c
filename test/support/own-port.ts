// Ports for what listens, ends and listens again in a test: a server that is restarted, a camera that refuses connections. A
// port that the system chose could meanwhile be given to another process, and the test would wait in vain.

import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system chooses from (20,000 and above in `findFreePort`, 32,768 and above in Linux). */
const first = 10_000
const count = 10_000
/** Each process begins at another place, so that two hardly ever try the same port. */
let next = (process.pid * 100) % count

/** A TCP port that nobody listens on, and that this process takes no second time soon. Throws the system's error. */
export async function findOwnPort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = first + (next++ % count)
    const probe = createServer().listen(port, host)
    try {
      await once(probe, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && attempt < count) continue
      throw error
    }
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}
