// npm run attack -- requests | crowd: people who mean harm, against a running server. docs/design/attacks.md.

import { parseArgs } from 'node:util'
import { runCrowd } from '../test/attacks/crowd-run.ts'
import { describeCrowdRun, findMisses } from '../test/attacks/describe-crowd-run.ts'
import { describeRequestRun } from '../test/attacks/describe-request-run.ts'
import { runRequests } from '../test/attacks/request-run.ts'

const help = `npm run attack -- requests [options]   requests and connections that nobody makes in good faith

  --requests N   how many are made up  [100000]
  --seed N       which; new ones each time unless given
  --only N,…     of these numbers alone, as the report of a run names them
  --at-once N    connections at a time  [24]

npm run attack -- crowd [options]      an account, a guest and a stranger do all that costs much, beside cameras that are recorded

  --seconds N    for so long  [120]
  --cameras N    that are recorded  [20]
  --memory N     MiB that the server plans with  [512]

Of both:

  --rest N       seconds afterwards, before memory is looked at  [40; crowd: 60]
  --json         prints one JSON object and nothing else

Exit code 1: something was not as it should be; 2: wrong usage.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    only: { type: 'string' },
    'at-once': { type: 'string', default: '24' },
    seconds: { type: 'string', default: '120' },
    cameras: { type: 'string', default: '20' },
    memory: { type: 'string', default: '512' },
    rest: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
})
const say = (text: string) => console.error(text)
if (values.help) console.log(help)
else if (positionals[0] === 'requests') {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  say(`Seed ${seed}`)
  const report = await runRequests({
    seed,
    count: Number(values.requests),
    atOnce: Number(values['at-once']),
    only: values.only?.split(',').map(Number),
    restMs: Number(values.rest ?? 40) * 1000,
    say,
  })
  console.log(values.json ? JSON.stringify(report) : describeRequestRun(report))
  process.exitCode = report.complaints.length === 0 ? 0 : 1
} else if (positionals[0] === 'crowd') {
  const memoryMiB = Number(values.memory)
  const report = await runCrowd({
    seconds: Number(values.seconds),
    cameras: Number(values.cameras),
    memoryMiB,
    restMs: Number(values.rest ?? 60) * 1000,
    say,
  })
  const misses = findMisses(report, memoryMiB)
  console.log(values.json ? JSON.stringify({ ...report, misses }) : describeCrowdRun(report, misses))
  process.exitCode = report.complaints.length + misses.length === 0 ? 0 : 1
} else {
  console.error(help)
  process.exitCode = 2
}
