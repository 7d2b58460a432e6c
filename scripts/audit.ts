// npm run audit: what cameras sent while everything went wrong, against what the archive plays and tells. docs/design/audit.md.

import { parseArgs } from 'node:util'
import { runAudit } from '../test/audit/audit-run.ts'
import { inOwnNetwork } from '../test/audit/cluster-network.ts'
import { describeAudit, sumUp, writePlacesTotals } from '../test/audit/describe-audit.ts'
import { ensureTestPackages } from './test-packages.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string' },
    cameras: { type: 'string' },
    without: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
    places: { type: 'boolean', default: false },
    servers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  console.log(`npm run audit -- [options]

Cameras stamp a number and the true time into every frame. A seed determines the faults of network, camera, clock, disk,
process and audio. Afterwards, all footage is played over HTTP. Each frame must be in the recording exactly once and at its
time, or in a reported gap with a correct reason; and no gap may be reported where frames are recorded.

  --seconds N   time during which faults occur  [600]
  --seed N      seed of the faults and their times; random by default
  --cameras N   number of recorded cameras  [7; 60 with --servers]
  --without W,W omit faults whose names contain one of these words, to narrow a finding down
  --only W,W    use only faults whose names contain one of these words
  --places      record on two disks, upload to a bucket of a real S3 store that fails, and move recordings between
                them by commands that are killed
  --servers     three servers that share the cameras, behind HAProxy, with PostgreSQL and a bucket of a real S3 store:
                servers are killed, paused and drained, database and store fail, alone and together
  --keep FOLDER save the server's log and, for each camera, what was sent, played and reported
  --json        print {"sent", "recorded", "told", "untold", "doubled", "falseGaps", "worstTimeErrorMs"} as the last line

Exit code 1: there are findings. Each names the camera, frames, times and the faults near it.`)
} else {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  const say = (text: string) => console.error(`${new Date().toISOString().slice(11, 23)} ${text}`)
  try {
    const store = values.places || values.servers ? ['ceph-mon', 'ceph-osd', 'radosgw'] : []
    const cluster = values.servers ? ['postgresql', 'haproxy'] : []
    ensureTestPackages(['ffmpeg', 'faketime', ...store, ...cluster])
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
  if (values.servers) await inOwnNetwork()
  say(`seed ${seed}`)
  const report = await runAudit({
    seconds: Number(values.seconds),
    seed,
    cameras: Number(values.cameras ?? (values.servers ? 60 : 7)),
    without: values.without.split(',').filter((word) => word !== ''),
    only: values.only.split(','),
    hasPlaces: values.places,
    hasServers: values.servers,
    say,
    keepIn: values.keep,
  })
  const { totals, isWell } = sumUp(report)
  if (values.json) console.error(describeAudit(report))
  else console.log(describeAudit(report))
  console.log(JSON.stringify(report.places ? writePlacesTotals(totals, report.places!) : totals))
  process.exitCode = isWell ? 0 : 1
}
