// Kills the server again and again while it records, and counts what is missing. How and why: docs/design/benchmarks.md.

import { runKillRounds } from '../../test/crash/kill-rounds.ts'
import type { Bench } from '../bench.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, percentile, sum } from '../statistics.ts'

const defaultKills = 200
const defaultCameras = 20

export const crashBench: Bench = {
  name: 'crash',
  summary: 'kills the server at random moments while it records: what is missing, and whether index and files agree',
  help: `npm run bench -- crash [options]

  --kills N     how often  [${defaultKills}]
  --cameras N   how many are recorded  [${defaultCameras}]
  --json        prints one JSON object and nothing else`,
  defaults: { cameras: defaultCameras, kills: defaultKills },
  async run({ cameras, kills, say }) {
    const seed = Math.floor(Math.random() * 2 ** 31)
    say(`Seed ${seed}`)
    const report = await runKillRounds({ kills, cameras, seed, say })
    for (const fault of report.faults) say(fault)
    return createReport(report, seed)
  },
}

function createReport(found: Awaited<ReturnType<typeof runKillRounds>>, seed: number): Report {
  const { kills, killsWhileStarting, cameras, gopFrames, framesPerSecond, lost, holes, recorded, faults } = found
  const worst = Math.max(0, ...lost)
  const row = (title: string, value: number | string) => [title, typeof value === 'string' ? value : writeNumber(value)]
  return {
    name: 'crash',
    title: 'Killed while recording',
    setting: [
      `The real server with ${cameras} cameras of ${framesPerSecond} pictures a second and a key frame each ${gopFrames}, killed with \`kill -9\` at random ` +
        `moments up to 6 s after each start or after all cameras are connected, and ${killsWhileStarting} times more while it was starting. After each start \`check --deep\` beside the server; at the end once ` +
        'more, when nothing runs. Every picture carries its number, and the cameras send only while somebody receives: a number that is in no file was lost.',
      `Measured on ${describeMachine()}; seed ${seed}.`,
    ],
    tables: [
      {
        head: ['', 'pictures'],
        rows: [
          row('recorded', recorded),
          row(`lost at a kill, median of ${lost.length} cameras cut off`, median(lost)),
          row('lost at a kill, 95 %', percentile(lost, 95)),
          row('lost at a kill, worst', worst),
          row('lost anywhere else', holes),
        ],
      },
      {
        head: ['', 'ms'],
        rows: [
          row('from the start of the process to its announcement, median', median(found.startMs)),
          row('the same, worst', Math.max(...found.startMs)),
        ],
      },
    ],
    targets: [
      {
        key: 'worstLostGroups',
        title: 'lost at a kill, groups of pictures',
        value: worst / gopFrames,
        limit: 1,
        kind: 'at most',
      },
      { key: 'holes', title: 'pictures lost anywhere else', value: holes, limit: 0, kind: 'at most' },
      { key: 'faults', title: 'checks that found something', value: faults.length, limit: 0, kind: 'at most' },
    ],
    notes: [
      `${kills} kills. A picture counts as sent when it is given to the connection: what the killed process had not read yet is among the lost.`,
    ],
    details: { kills, killsWhileStarting, cameras, seed, recorded, lostMedian: median(lost), lostTotal: sum(lost) },
  }
}
