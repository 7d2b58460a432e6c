// npm run audit: what cameras sent while everything went wrong, against what the archive plays and tells. docs/design/audit.md.

import { parseArgs } from 'node:util'
import { runAudit } from '../test/audit/audit-run.ts'
import { describeAudit, sumUp } from '../test/audit/describe-audit.ts'
import { ensureTestPackages } from './test-packages.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string' },
    cameras: { type: 'string', default: '7' },
    without: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  console.log(`npm run audit -- [options]

Cameras number every picture and stamp the true time in it. Faults of network, camera, clock, disk, process and audio are
drawn from a seed; afterwards everything is played by HTTP. Each picture must be in the recording, once, at its time, or lie
in a gap that is told with a right reason; and no gap may be told where pictures are recorded.

  --seconds N   how long faults happen  [600]
  --seed N      which faults, and when; a new one each time unless given
  --cameras N   cameras that are recorded  [7]
  --without W,W faults whose names hold one of these words do not happen, to narrow a finding down
  --only W,W    only faults whose names hold one of these words happen
  --keep FOLDER the server's log and, of each camera, what was sent, played and told
  --json        the last line is {"sent", "recorded", "told", "untold", "doubled", "falseGaps", "worstTimeErrorMs"}

Exit code 1: something was not as it should be; each finding names camera, pictures, times and the faults near it.`)
} else {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  const say = (text: string) => console.error(`${new Date().toISOString().slice(11, 23)} ${text}`)
  try {
    ensureTestPackages(['ffmpeg', 'faketime'])
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
  say(`seed ${seed}`)
  const report = await runAudit({
    seconds: Number(values.seconds),
    seed,
    cameras: Number(values.cameras),
    without: values.without.split(',').filter((word) => word !== ''),
    only: values.only.split(','),
    say,
    keepIn: values.keep,
  })
  const { totals, isWell } = sumUp(report)
  if (values.json) console.error(describeAudit(report))
  else console.log(describeAudit(report))
  console.log(JSON.stringify(totals))
  process.exitCode = isWell ? 0 : 1
}
