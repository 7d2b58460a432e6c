// Where to connect for a camera's address: tested by the guard, in bounded time, because whoever answers for a name may
// never do so.

import type { Clock } from '../../base/clock.ts'
import type { AddressGuard, TestedAddress } from './address-guard.ts'
import { CameraError } from './camera-error.ts'
import type { CameraUrl } from './camera-url.ts'
import { withDeadline } from './deadline.ts'

export type ResolveOptions = {
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly ms: number
  readonly signal: AbortSignal
}

/** Throws as `AddressGuard`, CameraError when it takes too long, the signal's reason when it aborts. */
export async function resolveTarget(
  { host, port }: Pick<CameraUrl, 'host' | 'port'>,
  { addressGuard, clock, ms, signal }: ResolveOptions,
): Promise<TestedAddress> {
  // A look-up whose time is over must not go on: it would take a place of those that others wait for.
  const done = new AbortController()
  const onLate = () =>
    new CameraError('camera_unreachable', `The name ${host} was not resolved in time.`, { trouble: 'unknown_host' })
  const found = addressGuard.resolve(host, port, { signal: AbortSignal.any([signal, done.signal]) })
  try {
    return await withDeadline(found, { ms, clock, signal, onLate })
  } finally {
    done.abort()
  }
}
