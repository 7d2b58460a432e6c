// npm run faults: a thousand faults of cameras and networks while a server records, in about four minutes. docs/design/faults.md.

import { parseArgs } from 'node:util'
import { describeRun } from '../test/faults/describe-run.ts'
import { runFaults } from '../test/faults/fault-run.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cameras: { type: 'string', default: '250' },
    rounds: { type: 'string', default: '4' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  console.log(`npm run faults -- [options]

  --cameras N   cameras that are recorded  [250]
  --rounds N    faults of each of them, one after the other  [4]
  --seed N      what happens to whom; a new one each time unless given

Exit code 1: something was not as it should be.`)
} else {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  const report = await runFaults({
    cameras: Number(values.cameras),
    rounds: Number(values.rounds),
    seed,
    withLong: true,
    probedFiles: 150,
    say: (text) => console.error(text),
  })
  console.log(describeRun(report))
  process.exitCode = report.complaints.length === 0 ? 0 : 1
}
