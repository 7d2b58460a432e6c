// Which fault comes when, drawn from a seed: the same seed, cameras and length give the same schedule. When a fault really
// begins depends on how long those before it took.

import { createRandom } from '../fake-camera/scene/random.ts'
import type { AuditFault } from './camera-faults.ts'

export type PlannedFault = {
  readonly fault: AuditFault
  /** After the beginning. */
  readonly atMs: number
  /** For what the fault draws itself. */
  readonly seed: number
}

export type PlanOptions = {
  readonly seed: number
  readonly lengthMs: number
  /** From the beginning of one fault to that of the next. */
  readonly minPauseMs: number
  readonly maxPauseMs: number
}

/** Every fault once before any comes again, in an order of its own each time. */
export function planFaults(
  faults: readonly AuditFault[],
  { seed, lengthMs, minPauseMs, maxPauseMs }: PlanOptions,
): PlannedFault[] {
  if (faults.length === 0) return []
  const random = createRandom(seed)
  const plan: PlannedFault[] = []
  let waiting: AuditFault[] = []
  const pause = () => minPauseMs + random() * (maxPauseMs - minPauseMs)
  for (let atMs = pause() / 2; atMs < lengthMs; atMs += pause()) {
    if (waiting.length === 0) waiting = [...faults]
    const [fault] = waiting.splice(Math.floor(random() * waiting.length), 1)
    plan.push({ fault: fault!, atMs: Math.round(atMs), seed: Math.floor(random() * 2 ** 31) })
  }
  return plan
}
