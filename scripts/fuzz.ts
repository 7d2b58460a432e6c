// npm run fuzz: looks for inputs that the parsers of camera data do not stand. docs/design/faults.md.

import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { corpusFolder, fuzz } from '../test/fuzz/fuzz.ts'
import { fuzzTargets } from '../test/fuzz/targets/all-targets.ts'
import { openWatchdog } from '../test/fuzz/watchdog.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    target: { type: 'string' },
    seed: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
const chosen = fuzzTargets.filter(({ name }) => values.target === undefined || name === values.target)
if (values.help || chosen.length === 0) {
  console.log(`npm run fuzz -- [options]

  --target NAME   one of ${fuzzTargets.map(({ name }) => name).join(', ')}; all of them unless given
  --seconds N     for each  [60]
  --seed N        a new one each time unless given

What is found is kept in test/fuzz/corpus, where the tests find it. Exit code 1: something was found.`)
  process.exitCode = values.help ? 0 : 2
} else {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`Seed ${seed}`)
  for (const target of chosen) {
    mkdirSync(corpusFolder(target.name), { recursive: true })
    using watchdog = openWatchdog(new URL(`hang-${seed}.bin`, corpusFolder(target.name)).pathname)
    const { runs, outcomes, slowestMs, finding } = await fuzz(target, {
      seconds: Number(values.seconds),
      seed,
      onInput: watchdog.note,
      // A camera that makes a media worker wait so long makes all its cameras wait.
      maxMs: target.name === 'http' ? 5000 : 100,
    })
    console.log(`${target.name}: ${runs} inputs, ${outcomes} outcomes, the slowest ${slowestMs.toFixed(1)} ms`)
    if (!finding) continue
    process.exitCode = 1
    const file = new URL(`${seed}-${runs}.bin`, corpusFolder(target.name))
    writeFileSync(file, finding.input)
    console.log(`  ${finding.problem}\n  kept as ${file.pathname}`)
  }
}
