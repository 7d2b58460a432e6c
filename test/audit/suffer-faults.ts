// Does what was planned to cameras and server, one fault after the other each, and remembers when.

import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../fake-camera/scene/random.ts'
import type { DoneFault } from './judge.ts'
import type { PlannedFault } from './schedule.ts'

/** `camera`: the one that it was done to; undefined: the server, and so all. */
export type SufferedFault = DoneFault & { readonly camera: string | undefined }

export type Sufferer = {
  readonly name: string
  readonly camera: string | undefined
  readonly plan: readonly PlannedFault[]
}

/** `complaints`: faults that could not be done. */
export type Suffered = { readonly faults: readonly SufferedFault[]; readonly complaints: readonly string[] }

/** Resolves when all plans are over. */
export async function sufferFaults(sufferers: readonly Sufferer[], say: (text: string) => void): Promise<Suffered> {
  const beginMs = performance.now()
  const faults: SufferedFault[] = []
  const complaints: string[] = []
  const suffer = async ({ name, camera, plan }: Sufferer) => {
    for (const { fault, atMs, seed } of plan) {
      await sleep(Math.max(0, atMs - (performance.now() - beginMs)))
      const { inflict, ...rest } = fault
      const fromMs = Date.now()
      say(`${name}: ${fault.name}`)
      try {
        await inflict(createRandom(seed))
      } catch (error) {
        complaints.push(`${name}: ${fault.name}: ${(error as Error).message}`)
      }
      faults.push({ ...rest, camera, fromMs, toMs: Date.now() })
    }
  }
  await Promise.all(sufferers.map(suffer))
  return { faults, complaints }
}
