// The isolation of the decoding processes that is in force.

import type { ServerState } from '../../../contract/server.ts'
import type { IsolationReport } from '../../decoder/isolation/isolation.ts'

export function writeIsolation(report: IsolationReport): ServerState['decoder_isolation'] {
  const { level, inForce, missing, reason = null, advice = null } = report
  return { level, in_force: [...inForce], missing: [...missing], reason, advice }
}
