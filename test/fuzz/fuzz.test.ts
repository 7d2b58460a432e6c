import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz, runCorpus } from './fuzz.ts'
import { fuzzTargets } from './targets/all-targets.ts'

/** Long ones are found again with `npm run fuzz -- --seed`. */
const show = (input: Uint8Array) => Buffer.from(input.subarray(0, 600)).toString('base64')

for (const target of fuzzTargets) {
  test(`${target.name}: the corpus, and some hundred inputs made of it`, async () => {
    for (const { input, problem } of await runCorpus(target)) assert.fail(`${show(input)}\n${problem}`)
    const seed = Math.floor(Math.random() * 2 ** 31)
    const { finding } = await fuzz(target, { seconds: 1, maxRuns: 400, seed })
    if (finding) assert.fail(`seed ${seed}, ${show(finding.input)}\n${finding.problem}`)
  })
}
