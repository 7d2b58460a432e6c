// Formats the report of a run of generated requests.

import type { RequestRunReport } from './request-run.ts'

export function describeRequestRun(report: RequestRunReport): string {
  const { attacks, answers, kinds, memory, honest, seconds, seed, complaints } = report
  const rows = Object.entries(kinds).map(([kind, { attacks: count, statuses }]) => {
    const answers = Object.entries(statuses).map(
      ([status, times]) => `${times} × ${status === '0' ? 'unread' : status}`,
    )
    return `  ${kind.padEnd(12)} ${String(count).padStart(7)}   ${answers.join(', ')}`
  })
  const show = (what: keyof typeof memory.before) =>
    `${memory.before[what].toFixed(0)} → ${memory.after?.[what].toFixed(0) ?? 'unknown'}`
  return [
    `Seed ${seed}: ${attacks} attacks in ${seconds.toFixed(0)} s, ${answers} answers`,
    ...rows,
    `Memory after garbage collection, MB: resident ${show('residentMB')}, heap ${show('heapMB')}, external ${show('externalMB')}`,
    `An honest client: ${honest.count} answers, half of them within ${honest.p50Ms} ms, 99 % within ${honest.p99Ms} ms, the last within ${honest.longestMs} ms`,
    complaints.length === 0 ? 'Nothing to complain of' : `${complaints.length} complaints:`,
    ...complaints,
  ].join('\n')
}
