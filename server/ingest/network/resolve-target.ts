// Resolves the host of a camera to a checked IP address, in bounded time, because a name server may never answer.

import type { Clock } from '../../base/clock.ts'
import { withDeadline } from '../../base/deadline.ts'
import type { AddressGuard, TestedAddress } from './address-guard.ts'
import { CameraError } from './camera-error.ts'
import type { CameraUrl } from './camera-url.ts'

export type ResolveOptions = {
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly ms: number
  readonly signal: AbortSignal
}

/** @throws the errors of `AddressGuard`; CameraError if the lookup takes too long; the signal's reason if it aborts. */
export async function resolveTarget(
  { host, port }: Pick<CameraUrl, 'host' | 'port'>,
  { addressGuard, clock, ms, signal }: ResolveOptions,
): Promise<TestedAddress> {
  // A lookup that ran out of time is aborted, because it would occupy a permit that others wait for.
  const done = new AbortController()
  const onLate = () =>
    new CameraError(
      'camera_unreachable',
      `The name ${host} was not resolved in time: check the name, or the name server of this network.`,
      { problem: 'unknown_host' },
    )
  const found = addressGuard.resolve(host, port, { signal: AbortSignal.any([signal, done.signal]) })
  try {
    return await withDeadline(found, { ms, clock, signal, onLate })
  } finally {
    done.abort()
  }
}
