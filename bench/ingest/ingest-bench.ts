// Ours beside `ffmpeg -c copy`: the same cameras, recorded in turns by one and the other. How and why: docs/design/benchmarks.md.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { readMemoryBytes } from '../process-usage.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, sum } from '../statistics.ts'
import type { Contestant } from './contestant.ts'
import { FfmpegContestant, ffmpegCommandLine, findFfmpegVersion } from './ffmpeg-contestant.ts'
import { addTallies } from './frame-tally.ts'
import { type LoadCameras, openLoadCameras } from './load-cameras.ts'
import { NightjarContestant } from './nightjar-contestant.ts'
import { type Round, runRound } from './round.ts'

/** Turns of each. */
const roundCount = 2
const settleMs = 15_000

export const ingestBench: Bench = {
  name: 'ingest',
  summary: 'records the same cameras with Nightjar and with ffmpeg: CPU, memory, frames',
  help: `npm run bench -- ingest [options]

  --cameras N   cameras of 2 Mbit/s, 1280×720, 25 frames/s  [40]
  --seconds N   measured time of each of the two, in ${roundCount} turns  [60]
  --json        prints one JSON object and nothing else`,
  defaults: { cameras: 40, seconds: 60 },
  async run({ cameras, seconds, say }) {
    const ffmpegVersion = await findFfmpegVersion()
    say(`Encoding the clip that ${cameras} cameras send …`)
    await using load = await openLoadCameras(cameras)
    await using nightjar = await NightjarContestant.open()
    await using ffmpeg = await FfmpegContestant.open(load.urls)
    say('Measuring the idle server …')
    const idleBytes = await measureIdle(nightjar)
    say(`Adding ${cameras} cameras …`)
    await nightjar.addCameras(load.urls)
    const rounds = await alternate([nightjar, ffmpeg], load, { measuredMs: (seconds * 1000) / roundCount, say })
    const warnings = nightjar.log()
    if (warnings) say(`The server warned:\n${warnings}`)
    return createReport({ cameras, seconds, ffmpegVersion, idleBytes, rounds })
  },
}

async function measureIdle(nightjar: Contestant): Promise<number> {
  await sleep(settleMs)
  const samples: number[] = []
  for (let i = 0; i < 5; i++) {
    samples.push(await readMemoryBytes(nightjar.listPids()))
    await sleep(1000)
  }
  return median(samples)
}

type Rounds = { readonly nightjar: readonly Round[]; readonly ffmpeg: readonly Round[] }

async function alternate(
  [nightjar, ffmpeg]: readonly [Contestant, Contestant],
  load: LoadCameras,
  { measuredMs, say }: { readonly measuredMs: number; readonly say: (text: string) => void },
): Promise<Rounds> {
  const rounds = { nightjar: [] as Round[], ffmpeg: [] as Round[] }
  for (let i = 1; i <= roundCount; i++) {
    for (const [key, contestant] of [['nightjar', nightjar] as const, ['ffmpeg', ffmpeg] as const]) {
      say(`${contestant.title} records, turn ${i} of ${roundCount} …`)
      const round = await runRound(contestant, load, measuredMs)
      rounds[key].push(round)
      const { cpuPercentPerCamera, frames, foreignCpuPercent } = round
      const cpu = `${writeNumber(cpuPercentPerCamera)} % of a core per camera`
      say(`  ${cpu}, ${frames.lost} frames lost; other programs used ${writeNumber(foreignCpuPercent)} % of a core`)
    }
  }
  return rounds
}

type Findings = {
  readonly cameras: number
  readonly seconds: number
  readonly ffmpegVersion: string
  readonly idleBytes: number
  readonly rounds: Rounds
}

function createReport({ cameras, seconds, ffmpegVersion, idleBytes, rounds }: Findings): Report {
  const ours = summarize(rounds.nightjar)
  const peer = summarize(rounds.ffmpeg)
  // The later round is of a server started anew; the larger value counts.
  const recordingBytes = Math.max(...rounds.nightjar.map(({ memoryBytes }) => memoryBytes))
  const childBytes = Math.max(...rounds.nightjar.map(({ childMemoryBytes }) => childMemoryBytes))
  const ffmpegBytes = Math.max(...rounds.ffmpeg.map(({ memoryBytes }) => memoryBytes))
  const memoryPerCameraMB = (recordingBytes - idleBytes) / cameras / 1e6
  const megabytes = (bytes: number) => writeNumber(bytes / 1e6)
  const spread = (list: readonly Round[]) =>
    list.map(({ cpuPercentPerCamera }) => writeNumber(cpuPercentPerCamera)).join(', ')
  return {
    name: 'ingest',
    title: 'Recording, beside `ffmpeg -c copy`',
    setting: [
      `${cameras} cameras of 2 Mbit/s, 1280×720, 25 frames/s (one fake camera process), recorded in turns: Nightjar, ffmpeg, Nightjar, ffmpeg, ` +
        `${seconds / roundCount} s measured each time, after a warm-up. Nightjar is one server, started before each turn, its cameras added with ` +
        `\`nightjar camera add --record\`; ffmpeg ${ffmpegVersion} is a process per camera: \`${ffmpegCommandLine}\`.`,
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: ['', 'Nightjar', 'ffmpeg'],
        rows: [
          ['CPU per camera, % of a core', writeNumber(ours.cpuPercent), writeNumber(peer.cpuPercent)],
          ['… in each turn', spread(rounds.nightjar), spread(rounds.ffmpeg)],
          [
            'memory per camera, MB (Nightjar: over idle)',
            writeNumber(memoryPerCameraMB),
            megabytes(ffmpegBytes / cameras),
          ],
          ['memory in all, MB', megabytes(recordingBytes), megabytes(ffmpegBytes)],
          ['… of that in child processes (the picture decoder)', megabytes(childBytes), '0'],
          ['memory without cameras, MB', megabytes(idleBytes), '0'],
          ['frames sent', writeNumber(ours.frames.expected), writeNumber(peer.frames.expected)],
          ['frames written', writeNumber(ours.frames.written), writeNumber(peer.frames.written)],
          ['frames lost', writeNumber(ours.frames.lost), writeNumber(peer.frames.lost)],
        ],
      },
    ],
    targets: [
      {
        key: 'cpuRatio',
        title: 'CPU per camera, Nightjar ÷ ffmpeg',
        value: ours.cpuPercent / peer.cpuPercent,
        limit: 0.42,
        kind: 'at most',
      },
      {
        key: 'memoryPerCameraMB',
        title: 'memory per camera over the idle server, MB',
        value: memoryPerCameraMB,
        limit: 2,
        kind: 'at most',
      },
      { key: 'framesLost', title: 'frames lost', value: ours.frames.lost, limit: 0, kind: 'at most' },
    ],
    notes: [
      'CPU: user and kernel time of all threads and child processes. Memory: proportional set size (what processes share is divided), ' +
        'all processes, the larger of the turns. Frames: every picture carries its number; sent = from the first recorded to the last sent in the measured time.',
      `Meanwhile other programs, the fake camera not among them, used ${writeNumber(ours.foreignCpuPercent)} % (Nightjar's turns) and ` +
        `${writeNumber(peer.foreignCpuPercent)} % (ffmpeg's) of a core.`,
    ],
    details: {
      cameras,
      seconds,
      nightjar: {
        ...ours,
        idleMB: idleBytes / 1e6,
        recordingMB: recordingBytes / 1e6,
        childMB: childBytes / 1e6,
        rounds: rounds.nightjar,
      },
      ffmpeg: { ...peer, version: ffmpegVersion, recordingMB: ffmpegBytes / 1e6, rounds: rounds.ffmpeg },
    },
  }
}

function summarize(rounds: readonly Round[]) {
  const mean = (values: readonly number[]) => sum(values) / values.length
  return {
    cpuPercent: mean(rounds.map(({ cpuPercentPerCamera }) => cpuPercentPerCamera)),
    foreignCpuPercent: mean(rounds.map(({ foreignCpuPercent }) => foreignCpuPercent)),
    frames: addTallies(rounds.map(({ frames }) => frames)),
  }
}
