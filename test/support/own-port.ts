// Ports for what listens, ends and listens again in a test: a server that is restarted, a camera that refuses connections. A
// port that the system chose could meanwhile be given to another process, and the test would wait in vain.

import { findFreePort } from '../../server/base/free-port.ts'

/** Below those that the system chooses from (20,000 and above in `findFreePort`, 32,768 and above in Linux). */
const first = 10_000
const count = 10_000
/** Each process begins at another place, so that two hardly ever try the same port. */
let next = (process.pid * 100) % count

/** A TCP port that nobody listens on, and that this process takes no second time soon. Throws the system's error. */
export function findOwnPort(host = '127.0.0.1'): Promise<number> {
  return findFreePort(host, () => first + (next++ % count))
}
