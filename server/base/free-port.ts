// Finds a port for a server whose URL must be known before it listens.

import { createServer } from 'node:net'

/** A TCP port that nobody listens on at the moment. Throws the system's error. */
export async function findFreePort(host: string): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, host, resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
