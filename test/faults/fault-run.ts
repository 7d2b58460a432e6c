// A server that records many cameras while everything happens to them that happens to cameras. After each fault its footage goes on by
// itself, and the timeline tells why there was none; at the end all files are as they should be. docs/design/faults.md.

import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../fake-camera/scene/random.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { type FarmCamera, openCameraFarm } from './camera-farm.ts'
import { checkFiles } from './check-files.ts'
import { type Fault, faults, listFaults } from './faults.ts'
import { openRecordingReader, type RecordingReader } from './recording-reader.ts'
import { type StallWatch, watchStalls } from './stall-watch.ts'
import { type MemoryCurve, watchMemory } from './watch-memory.ts'

export type FaultRunOptions = {
  readonly cameras: number
  /** Faults of each camera, one after the other. */
  readonly rounds: number
  readonly seed: number
  /** Includes faults that take minutes by their nature. */
  readonly withLong: boolean
  /** Files that are given to ffprobe. */
  readonly probedFiles: number
  readonly say: (text: string) => void
}

export type FaultOutcome = {
  readonly fault: string
  readonly camera: string
  /** From the moment the camera would serve again to footage of it. */
  readonly backMs: number
  readonly gaps: readonly string[]
}

export type FaultRunReport = {
  readonly seed: number
  readonly outcomes: readonly FaultOutcome[]
  /** What was not as it should be; empty when all is well. */
  readonly complaints: readonly string[]
  readonly memory: MemoryCurve
  readonly files: number
}

/** What a busy machine may take longer; nothing is measured by it. */
const slackMs = 25_000
/** Footage after a fault, before the next. */
const restMs = 4000

type Recorded = FarmCamera & {
  readonly id: number
  attempts: number
  isSpoilt: boolean
  /** The fault before, and how many connections there had been when it was over. */
  last: { readonly name: string; readonly connections: number } | undefined
}

export async function runFaults(options: FaultRunOptions): Promise<FaultRunReport> {
  const { seed, rounds, say } = options
  const random = createRandom(seed)
  await using farm = await openCameraFarm(options.cameras)
  await using server = await openServer('--rate-limit', '0')
  const { pid } = server
  const cameras: Recorded[] = []
  for (const camera of farm.cameras) cameras.push(await record(server, camera))
  using reader = openRecordingReader(server)
  for (const { id, stream } of cameras)
    await eventually(`${stream} is recorded`, 60_000, async () => (await reader.readEnd(id)) !== undefined)
  say(`${cameras.length} cameras are recorded`)

  const memory = watchMemory(pid)
  using stalls = watchStalls()
  const outcomes: FaultOutcome[] = []
  const complaints: string[] = []
  const plans = planFaults(cameras, { rounds, random, withLong: options.withLong })
  const total = [...plans.values()].flat().length
  const log = (cameraId: number, sinceMs: number) =>
    server
      .log()
      .split('\n')
      .filter((line) => line.includes(`"cameraId":${cameraId},`))
      .filter((line) => Date.parse((JSON.parse(line) as { time: string }).time) >= sinceMs)
      .join('\n')
  const suffer = async (camera: Recorded, plan: readonly Fault[]) => {
    // A generator of its own: what happens to one camera does not depend on how fast the others are.
    const own = createRandom(seed + camera.id * 7919)
    await sleep(own() * 3000)
    for (const fault of plan) {
      try {
        outcomes.push(await sufferOne(camera, fault, { reader, random: own, complaints, log, stalls }))
      } catch (error) {
        complaints.push(`${camera.stream}, ${fault.name}: ${(error as Error).message}`)
        return
      }
      if (outcomes.length % 50 === 0) say(`${outcomes.length} of ${total} faults`)
      await sleep(restMs)
    }
  }
  await Promise.all([...plans].map(([camera, plan]) => suffer(camera, plan)))
  complaints.push(...findNeverTold(outcomes))
  const curve = memory.stop()
  const grownMB = curve.lateMB - curve.earlyMB
  if (grownMB > Math.max(60, curve.earlyMB / 4)) complaints.push(`memory grew by ${grownMB.toFixed(0)} MB`)
  if (server.pid !== pid) complaints.push('the server was started again')
  const code = await server.stop()
  if (code !== 0) complaints.push(`the server ended with code ${code}`)
  complaints.push(...listErrors(server.log()))
  const checked = await checkFiles(server, cameras, { probedFiles: options.probedFiles, random })
  complaints.push(...checked.complaints)
  return { seed, outcomes, complaints, memory: curve, files: checked.files }
}

async function record(server: ServerUnderTest, camera: FarmCamera): Promise<Recorded> {
  const added = await server.request<{ id: number }>('/v1/cameras/', {
    method: 'POST',
    body: { name: camera.stream, url: camera.url, type: camera.isJpeg ? 'mjpeg' : 'h264' },
  })
  if (added.status !== 201) throw new Error(`${camera.url} was not added: ${added.text}`)
  const { id } = added.json
  const path = `/v1/cameras/${id}/recording/`
  const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P1D' } })
  if (status !== 201) throw new Error(`${camera.url} is not recorded: ${text}`)
  return { ...camera, id, attempts: 0, isSpoilt: false, last: undefined }
}

type Planning = { readonly rounds: number; readonly random: () => number; readonly withLong: boolean }

/** Every fault about equally often; those that take minutes to a few cameras, and first. */
function planFaults(cameras: readonly Recorded[], { rounds, random, withLong }: Planning): Map<Recorded, Fault[]> {
  const counts = new Map<string, number>()
  const count = (fault: Fault) => counts.get(fault.name) ?? 0
  return new Map(
    cameras.map((camera, i) => {
      const possible = listFaults(camera)
      const plan = Array.from({ length: rounds }, (_, round): Fault => {
        const isLong = withLong && round === 0 && i % 20 === 0
        const eligible = possible.filter((fault) => (fault.isLong ?? false) === isLong)
        const rarest = Math.min(...eligible.map(count))
        const rare = eligible.filter((fault) => count(fault) === rarest)
        const chosen = rare[Math.floor(random() * rare.length)]!
        counts.set(chosen.name, rarest + 1)
        return chosen
      })
      return [camera, plan]
    }),
  )
}

type Suffering = {
  readonly reader: RecordingReader
  readonly random: () => number
  readonly complaints: string[]
  /** What the server said of a camera since then. */
  log(cameraId: number, sinceMs: number): string
  readonly stalls: StallWatch
}

/** Throws when the camera is not back in time. */
async function sufferOne(camera: Recorded, fault: Fault, suffering: Suffering): Promise<FaultOutcome> {
  const { reader, random, complaints } = suffering
  const { id, stream, link } = camera
  const connectionsBefore = link.connectedAt.length
  const wrong = (what: string) => complaints.push(`${stream}, ${fault.name}: ${what}`)
  if (camera.last && camera.last.connections !== connectionsBefore)
    complaints.push(`${stream}, ${camera.last.name}: connected anew when it was over`)
  if (link.open !== 1) wrong(`${link.open} connections before it, after ${camera.last?.name}`)
  if (fault.spoilsFrames) camera.isSpoilt = true
  const startMs = Date.now()
  await fault.inflict(camera, random)
  const endMs = Date.now()
  const attempts = link.connectedAt.slice(connectionsBefore)
  // Each attempt so far may have doubled the pause; attempts that were refused did not reach the camera.
  camera.attempts += attempts.length + (fault.name === 'connections refused' ? 4 : 1)
  const backOffMs = Math.min(60_000, 1000 * 2 ** camera.attempts)
  const backMs = await waitForFootage(reader, id, endMs, fault.noticeMs + backOffMs + slackMs)
  const told = await reader.readGaps(id, startMs - 1000)
  const gaps = told.map(({ reason }) => reason)
  const isBusy = suffering.stalls.hasStalled(startMs - 5000, Date.now())
  for (const reason of gaps) if (!fault.reasons.includes(reason) && !isBusy) wrong(`a gap, ${reason}`)
  const said = suffering.log(id, startMs)
  const isMet = !fault.isMetByAttempts || said.includes(`"reason":"${fault.mustTell}"`)
  if (fault.mustTell && isMet && !gaps.includes(fault.mustTell))
    wrong(`no gap for ${fault.mustTell}, but ${JSON.stringify(told)}\n${said}`)
  const isReplaced = link.connectedAt.length > connectionsBefore
  if (fault.connection === 'kept' && isReplaced) wrong('connected anew')
  if (fault.connection === 'replaced' && !isReplaced) wrong('not connected anew')
  camera.last = { name: fault.name, connections: link.connectedAt.length }
  return { fault: fault.name, camera: stream, backMs, gaps }
}

/** The index tells whole seconds, and the last picture is shown for a while: less could be of before. */
const marginMs = 2500

/** Until there is footage of what the camera sent after `sinceMs`; how long after `sinceMs` it was there. */
async function waitForFootage(reader: RecordingReader, id: number, sinceMs: number, withinMs: number): Promise<number> {
  for (;;) {
    await sleep(700)
    const end = await reader.readEnd(id)
    const passedMs = Date.now() - sinceMs
    if (end !== undefined && end >= sinceMs + marginMs) return passedMs
    if (passedMs <= withinMs) continue
    const [gap] = (await reader.readGaps(id, sinceMs - 60_000)).slice(-1)
    throw new Error(`no footage ${Math.round(passedMs / 1000)} s after it, last gap: ${gap?.reason}`)
  }
}

/** Of faults that were met or not by chance: among so many some must have been. */
function findNeverTold(outcomes: readonly FaultOutcome[]): string[] {
  return faults.flatMap(({ name, mustTell }) => {
    const same = outcomes.filter(({ fault }) => fault === name)
    const isTold = mustTell === undefined || same.some(({ gaps }) => gaps.includes(mustTell))
    return isTold || same.length < 10 ? [] : [`${name}: ${mustTell} was never told of ${same.length}`]
  })
}

/** Whatever the server logged as an error, or as a thread that had to be restarted. */
function listErrors(log: string): string[] {
  return log.split('\n').filter((line) => {
    if (line === '') return false
    try {
      return (JSON.parse(line) as { level: number }).level >= 50
    } catch {
      return true
    }
  })
}
