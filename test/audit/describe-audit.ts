// What an audit found, in numbers and for people.

import type { PlacesVerdict } from './audit-places.ts'
import type { AuditReport } from './audit-run.ts'

export type AuditTotals = {
  readonly sent: number
  readonly recorded: number
  readonly told: number
  readonly untold: number
  readonly doubled: number
  readonly falseGaps: number
  readonly worstTimeErrorMs: number
}

/** Over all cameras. `isWell`: nothing was found at all. */
export function sumUp({ verdicts, complaints }: AuditReport): { totals: AuditTotals; isWell: boolean } {
  const sum = (pick: (verdict: AuditReport['verdicts'][number]) => number) =>
    verdicts.reduce((total, verdict) => total + pick(verdict), 0)
  return {
    totals: {
      sent: sum(({ sent }) => sent),
      recorded: sum(({ recorded }) => recorded),
      told: sum(({ told }) => told),
      untold: sum(({ untold }) => untold),
      doubled: sum(({ doubled }) => doubled),
      falseGaps: sum(({ falseGaps }) => falseGaps),
      worstTimeErrorMs: Math.max(0, ...verdicts.map(({ worstTimeErrorMs }) => worstTimeErrorMs)),
    },
    isWell: complaints.length === 0 && verdicts.every(({ findings }) => findings.length === 0),
  }
}

/** With what the check of all places found. */
export function writePlacesTotals(totals: AuditTotals, places: PlacesVerdict) {
  const { sent, recorded, told, untold, doubled, falseGaps } = totals
  const { orphans, missingObjects } = places
  return {
    sent,
    recorded,
    explained: told,
    unexplained: untold,
    duplicated: doubled,
    falseGaps,
    orphans,
    missingObjects,
  }
}

/** Of one kind at a camera, so many findings are printed. */
const maxFindings = 8

export function describeAudit(report: AuditReport): string {
  const { seed, faults, verdicts, complaints, longestStallMs } = report
  const counts = [...Map.groupBy(faults, ({ name }) => name)].map(([name, same]) => `${name} ${same.length}`).sort()
  const rows = verdicts.map(
    ({ camera, sent, recorded, toldBy, untold, doubled, falseGaps, spoilt, worstTimeErrorMs }) =>
      `| ${[camera, sent, recorded, toldBy.gap, toldBy.shortBreak, toldBy.loss, untold, doubled, falseGaps, spoilt, worstTimeErrorMs].join(' | ')} |`,
  )
  const findings = verdicts.flatMap(({ camera, findings: found }) =>
    [...Map.groupBy(found, ({ kind }) => kind)].flatMap(([kind, same]) => [
      ...same.slice(0, maxFindings).map(({ text }) => `${camera}: ${kind}: ${text}`),
      ...(same.length > maxFindings ? [`${camera}: ${kind}: ${same.length - maxFindings} more`] : []),
    ]),
  )
  const wrong = [...findings, ...complaints]
  return [
    `Seed ${seed}: ${faults.length} faults${faults.length > 0 ? ` (${counts.join(', ')})` : ''}.`,
    '',
    '| camera | sent | recorded | told by a gap | by a short break | by the loss figures | untold | doubled | false gaps | damaged | worst time error, ms |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    `The cameras stood still for up to ${longestStallMs} ms because the machine was busy.`,
    ...(wrong.length === 0 ? ['All is well.'] : [`${wrong.length} findings:`, ...wrong]),
  ].join('\n')
}
