// npm run bench -- <name>: measures the service beside a peer that does the same work, and says whether the targets are met.
// What is measured, and why in this way: docs/design/benchmarks.md.

import { apiBench } from './api/api-bench.ts'
import { archiveBench } from './archive/archive-bench.ts'
import { authBench } from './auth/auth-bench.ts'
import { type Bench, readBenchOptions, UsageError } from './bench.ts'
import { clusterBench } from './cluster/cluster-bench.ts'
import { crashBench } from './crash/crash-bench.ts'
import { ingestBench } from './ingest/ingest-bench.ts'
import { liveBench } from './live/live-bench.ts'
import { manyBench } from './many/many-bench.ts'
import { placesBench } from './places/places-bench.ts'
import { playbackBench } from './playback/playback-bench.ts'
import { publish } from './report.ts'
import { webBench } from './web/web-bench.ts'

const benches: readonly Bench[] = [
  ingestBench,
  manyBench,
  apiBench,
  authBench,
  archiveBench,
  crashBench,
  webBench,
  liveBench,
  playbackBench,
  placesBench,
  clusterBench,
]

const help = `npm run bench -- <name> [options]

${benches.map(({ name, summary }) => `  ${name.padEnd(8)} ${summary}`).join('\n')}

  --json   prints one JSON object and nothing else
  --help   of a bench: its own options

A Markdown table goes to standard output and to bench/results/. Exit code 1: a target was missed; 2: wrong usage.`

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h') {
    console.log(help)
    return name === undefined ? 2 : 0
  }
  const bench = benches.find((each) => each.name === name)
  if (!bench) {
    const names = benches.map((each) => each.name).join(', ')
    throw new UsageError(`there is no bench "${name}"; there are: ${names}. More: npm run bench -- --help`)
  }
  const options = readBenchOptions(bench, args)
  if (options === undefined) {
    console.log(bench.help)
    return 0
  }
  const say = (text: string) => process.stderr.write(`${text}\n`)
  return publish(await bench.run({ ...options, say }), options)
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error) => {
    console.error(error instanceof UsageError ? error.message : error)
    process.exitCode = error instanceof UsageError ? 2 : 1
  },
)
