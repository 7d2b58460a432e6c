// Formats the report of a crowd attack and compares it with the expected values. Figures that depend on the machine are
// not checked in tests.

import type { CrowdRunReport } from './crowd-run.ts'

const maxP99Ms = 100

/** Returns the expectations that were not met. */
export function findMisses({ honest, resident }: CrowdRunReport, memoryMiB: number): string[] {
  const misses: string[] = []
  const boxMB = (memoryMiB * 2 ** 20) / 1e6
  if (honest.p99Ms > maxP99Ms) misses.push(`99 % of the owner's answers took up to ${honest.p99Ms} ms, not ${maxP99Ms}`)
  if (resident.most.totalMB > boxMB) {
    misses.push(`the server had up to ${resident.most.totalMB.toFixed(0)} MB, of ${boxMB.toFixed(0)}`)
  }
  return misses
}

export function describeCrowdRun(report: CrowdRunReport, misses: readonly string[]): string {
  const { seconds, frames, honest, honestBefore, resident, main, attacks, complaints } = report
  const rows = Object.entries(attacks).map(([name, answers]) => {
    return `  ${name}: ${Object.entries(answers).map(([answer, times]) => `${times} × ${answer}`).join(', ')}` // biome-ignore format: one line
  })
  const [before, most, after] = [resident.before, resident.most, resident.after].map(({ totalMB }) =>
    totalMB.toFixed(0),
  )
  const parts = Object.entries(resident.most.byProgram).map(([program, ownMB]) => `${program} ${ownMB.toFixed(0)}`)
  return [
    `${seconds} s of attack`,
    ...rows,
    `Frames: ${frames.due} sent, ${frames.missing} missing, ${frames.gaps} gaps`,
    `The owner: ${honest.count} answers, ${honest.failed} failed; half within ${honest.p50Ms} ms (before: ${honestBefore.p50Ms}), 99 % within ${honest.p99Ms} ms (${honestBefore.p99Ms}), the last within ${honest.longestMs} ms`,
    `All processes, resident MB: ${before} before, ${most} at most (${parts.join(', ')}), ${after} afterwards`,
    `Main thread after garbage collection, MB: heap ${main.before.heapMB.toFixed(0)} → ${main.after.heapMB.toFixed(0)}, external ${main.before.externalMB.toFixed(0)} → ${main.after.externalMB.toFixed(0)}`,
    ...[...complaints, ...misses],
    complaints.length + misses.length === 0
      ? 'Nothing to complain of'
      : `${complaints.length + misses.length} complaints`,
  ].join('\n')
}
