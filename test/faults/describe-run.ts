// What a run of faults has found, for people.

import type { FaultRunReport } from './fault-run.ts'

export function describeRun({ seed, outcomes, complaints, memory, files }: FaultRunReport): string {
  const rows = [...Map.groupBy(outcomes, ({ fault }) => fault)].sort(([a], [b]) => a.localeCompare(b))
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const table = rows.map(([fault, same]) => {
    const times = same.map(({ backMs }) => backMs).sort((a, b) => a - b)
    const reasons = [...new Set(same.flatMap(({ gaps }) => gaps))].sort().join(', ')
    return `| ${fault} | ${same.length} | ${seconds(times[times.length >> 1]!)} | ${seconds(times.at(-1)!)} | ${reasons || 'none'} |`
  })
  return [
    `Seed ${seed}: ${outcomes.length} faults, ${files} files.`,
    '',
    '| fault | times | back after, s, median | longest | gaps |',
    '| --- | ---: | ---: | ---: | --- |',
    ...table,
    '',
    `Resident memory: ${memory.earlyMB.toFixed(0)} MB in the second quarter of the time, ${memory.lateMB.toFixed(0)} MB in the last.`,
    ...(complaints.length === 0 ? ['All is well.'] : [`${complaints.length} complaints:`, ...complaints]),
  ].join('\n')
}
