// Every parser of bytes that a camera sends.

import type { FuzzTarget } from '../fuzz-target.ts'
import { containerTargets } from './container-targets.ts'
import { httpTargets } from './http-targets.ts'
import { onvifTargets } from './onvif-targets.ts'
import { packetTargets } from './packet-targets.ts'
import { setTargets } from './set-targets.ts'
import { textTargets } from './text-targets.ts'

export const fuzzTargets: readonly FuzzTarget[] = [
  ...textTargets,
  ...packetTargets,
  ...setTargets,
  ...httpTargets,
  ...containerTargets,
  ...onvifTargets,
]
