// Ports for what listens, ends and listens again in a test: a server that is restarted, a camera that refuses connections. A
// port that the system chose could meanwhile be given to another process, and the test would wait in vain.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { findFreePort } from '../../server/base/free-port.ts'
import { isServicePort } from '../../server/ingest/network/address-guard.ts'

/** Below those that the system chooses from (20,000 and above in `findFreePort`, 32,768 and above in Linux). */
const first = 10_000
const blocks = 100
const blockSize = 100

let block: Promise<number> | undefined
let taken = 0

/**
 * A TCP port that nobody listens on, and that no other test process takes while this one lives, nor this one again. Throws the
 * system's error, or one that says that all ports belong to test processes.
 */
export function findOwnPort(host = '127.0.0.1'): Promise<number> {
  return findFreePort(host, takePort)
}

/** 10,080: `fetch` and browsers refuse it (https://fetch.spec.whatwg.org/#port-blocking). */
const isUseless = (port: number) => port === 10_080 || isServicePort(port)

/** Of another block when the last one is used up: an audit has more than a hundred links and cameras. */
async function takePort(): Promise<number> {
  const inBlock = taken++ % (blockSize - 1)
  if (inBlock === 0) block = holdBlock()
  const port = (await block!) + 1 + inBlock
  return isUseless(port) ? takePort() : port
}

/** The first port of a block is listened on for as long as this process lives, so that the others are its own. */
async function holdBlock(): Promise<number> {
  for (let i = 0; i < blocks; i++) {
    const port = first + ((process.pid + i) % blocks) * blockSize
    const holder = createServer((stray) => stray.destroy()).listen(port, '127.0.0.1')
    try {
      await once(holder, 'listening')
      holder.unref()
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  throw new Error(`all ports from ${first} to ${first + blocks * blockSize - 1} belong to test processes`)
}
