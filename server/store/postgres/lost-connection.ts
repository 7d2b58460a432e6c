// Notices that a connection to PostgreSQL is lost. One whose other end vanished silently reports nothing by itself, so
// it is polled.

import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import { repeat } from '../../base/repeat.ts'

export type LostConnectionOptions = {
  /** Resolves with the reason when the connection reports its end. */
  readonly ended: Promise<string>
  /** Asks the other end. A rejection means that the connection is lost. */
  readonly check: () => Promise<unknown>
  /** How often the other end is asked. Milliseconds. */
  readonly intervalMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Resolves with the reason why the connection is no longer usable, or when `signal` aborts. Never rejects.
 */
export async function untilLost({ ended, check, intervalMs, clock, signal }: LostConnectionOptions): Promise<string> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const work = async () => void (await check())
  const probing = repeat(work, { clock, signal: either, intervalMs, isDelayed: true }).then(() => 'closed', errorChain)
  const reason = await Promise.race([ended, probing])
  over.abort()
  return reason
}
