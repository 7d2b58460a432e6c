// One audit: cameras that number their pictures, a server that records them while faults drawn from a seed happen to both, and
// a foreign reader that says what of it is there, what is told to be missing, and what is neither. docs/design/audit.md.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchStalls } from '../faults/stall-watch.ts'
import { eventually, openServerWith } from '../server-under-test.ts'
import { type AuditCamera, type Audited, openAuditCameras } from './audit-cameras.ts'
import { type AuditServer, openAuditCluster } from './audit-cluster.ts'
import { openAuditPlaces, type PlacesVerdict } from './audit-places.ts'
import { type AuditFault, listCameraFaults, type Owner } from './camera-faults.ts'
import { openClusterNetwork } from './cluster-network.ts'
import { type HttpReader, openHttpReader } from './http-reader.ts'
import { judge, type Verdict } from './judge.ts'
import { recordOldFootage } from './old-footage.ts'
import { playRecording, type TimeRange } from './play-recording.ts'
import { readTimeline } from './read-timeline.ts'
import { startRevoking } from './revocations.ts'
import { planFaults } from './schedule.ts'
import { type ClockStep, openServerClock, serverTimes } from './server-clock.ts'
import { openServerDisk } from './server-disk.ts'
import { diskFull, listServerFaults } from './server-faults.ts'
import { type SufferedFault, sufferFaults } from './suffer-faults.ts'
import { startViewing, startWatching } from './viewers.ts'
import { watchLosses } from './watch-losses.ts'

export type AuditOptions = {
  /** How long faults happen. */
  readonly seconds: number
  readonly seed: number
  readonly cameras: number
  /** Faults whose names hold one of these words do not happen. */
  readonly without?: readonly string[]
  /** Only those whose names hold one of these do; all, unless given. */
  readonly only?: readonly string[]
  /** Recordings are also on a second disk and in a bucket, and are moved between them. */
  readonly hasPlaces?: boolean
  /** Three servers share the cameras, with PostgreSQL, a bucket and a balancer; see audit-cluster.ts. */
  readonly hasServers?: boolean
  readonly say: (text: string) => void
  /** A folder for the server's log and, of each camera, what was played and told. */
  readonly keepIn?: string | undefined
}

export type CameraVerdict = Verdict & { readonly camera: string; readonly decoderComplaints: readonly string[] }

export type AuditReport = {
  readonly seed: number
  readonly faults: readonly SufferedFault[]
  readonly verdicts: readonly CameraVerdict[]
  /** What else is not as it should be. */
  readonly complaints: readonly string[]
  /** The longest time for which this process, and with it the cameras, got no processor while pictures were sent. */
  readonly longestStallMs: number
  readonly places?: PlacesVerdict | undefined
}

const longestStandstill = 600_000
/** Each of more cameras has fewer faults, so that the machine has time for as many together. */
const usualCameras = 8

/** Pictures sent in the last moment before the end may still be on their way. */
const lastMomentMs = 1000

export async function runAudit({
  seconds,
  seed,
  cameras: count,
  without = [],
  only = [''],
  hasPlaces = false,
  hasServers = false,
  say,
  keepIn,
}: AuditOptions): Promise<AuditReport> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-audit-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const clock = await openServerClock(folder)
  const network = hasServers ? await openClusterNetwork(3) : undefined
  if (network) opened.use(network)
  else if (hasServers) say('there are no network namespaces here: nothing is cut off')
  const { cameras: sources } = opened.use(await openAuditCameras(count, network?.hosts.cameras))
  const disk = openServerDisk(folder, (end) => opened.defer(end))
  const deathOrder = join(folder, 'die')
  const places = hasPlaces ? opened.use(await openAuditPlaces(folder)) : undefined
  const cluster = hasServers ? opened.use(await openAuditCluster(folder, network)) : undefined
  Object.assign(process.env, places?.environment)
  const environment = { ...clock.environment, ...listenForDeath(deathOrder), ...places?.environment }
  const folders = [disk.archiveDir, ...(places ? [places.secondFolder] : [])]
  const alone = cluster ? undefined : opened.use(await openServerWith(environment, ...serverArgs(folders)))
  const server: AuditServer = cluster?.server ?? alone!
  if (alone) await places?.open(alone)
  const isWanted = ({ name }: AuditFault) =>
    only.some((word) => name.includes(word)) && !without.some((word) => name.includes(word))
  const links = sources.map(({ link }) => link)
  const longestStandstillMs = Math.min(longestStandstill, seconds * 200)
  // What a full disk deletes is gone, and old footage that it could delete is in the bucket.
  const isPossible = ({ name }: AuditFault) => !places || name !== diskFull
  const parts = alone && { server: alone, links, longestStandstillMs, clock, disk, deathOrder }
  const sufferers = cluster?.sufferers ?? [{ name: 'server', faults: listServerFaults(parts!) }]
  const serverFaults = sufferers.map(({ name, faults }) => ({
    name,
    faults: [...faults, ...(places?.listFaults() ?? [])].filter((fault) => isWanted(fault) && isPossible(fault)),
  }))
  if (alone && serverFaults.some(({ faults }) => faults.some(({ name }) => name === diskFull))) {
    say('recording old footage, for a full disk to delete')
    await recordOldFootage(alone)
  }
  await clock.begin()
  const startMs = Date.now()
  using stalls = watchStalls()
  const cameras: Audited[] = []
  for (const camera of sources) cameras.push({ ...camera, id: await record(server, camera) })
  using http = openHttpReader(server)
  for (const { id, stream } of cameras)
    await eventually(`${stream} is recorded`, 60_000, async () => hasFootage(http, id))
  const beginMs = Date.now()
  say(`${cameras.length} cameras are recorded`)

  const ids = cameras.map(({ id }) => id)
  const watch = watchLosses(http, ids)
  // The last faults have time to show what they did.
  const lengthMs = Math.max(0, seconds * 1000 - Math.min(20_000, seconds * 250))
  const owner = createOwner(server)
  const endOfFaults = sleep(seconds * 1000)
  const endMoving = alone && places?.startMoving(alone, seed)
  const endViewing = (places ?? cluster) && startViewing(server, ids, seed)
  const endWatching = cluster && startWatching(server, ids, seed)
  const endRevoking = cluster && startRevoking(server, cluster.direct)
  const { faults, complaints } = await sufferFaults(
    [
      ...serverFaults.map(({ name, faults }, i) => {
        const pauses = cluster ? { minPauseMs: 20_000, maxPauseMs: 60_000 } : { minPauseMs: 8000, maxPauseMs: 20_000 }
        return { name, camera: undefined, plan: planFaults(faults, { seed: seed + i, lengthMs, ...pauses }) }
      }),
      ...cameras.map((camera, i) => {
        const rarity = Math.max(1, cameras.length / usualCameras)
        const pauses = { minPauseMs: 6000 * rarity, maxPauseMs: 18_000 * rarity }
        const options = { seed: seed + (i + 1) * 7919, lengthMs, ...pauses }
        return {
          name: camera.stream,
          camera: camera.stream,
          plan: planFaults(listCameraFaults(camera, owner).filter(isWanted), options),
        }
      }),
    ],
    say,
  )
  await endOfFaults
  const moving = await endMoving?.()
  if (moving) say(`${moving.moves} commands moved recordings, ${moving.kills} of them were killed`)
  const viewing = await endViewing?.()
  if (viewing) say(`viewers played ${viewing.played} parts; away: ${JSON.stringify(viewing.away)}`)
  const watching = await endWatching?.()
  if (watching) say(`${watching.images} live images were seen; ${watching.ends} connections ended`)
  const revoking = await endRevoking?.()
  if (revoking) say(`${revoking.revoked} tokens were revoked, and refused ${revoking.refused} times`)
  // A camera that waits for its next attempt to connect would have a gap without an end.
  for (const { id, stream } of cameras)
    await eventually(
      () => [`${stream} is recorded again`, ...complaints, ...server.log().split('\n').slice(-40)].join('\n'),
      60_000,
      async () => (await readStatus(http, id)) === 'RECORDING',
    )

  const losses = await watch.end()
  const endMs = Date.now()
  const { longestMs: longestStallMs } = stalls
  for (const { id } of cameras) await server.request(`/v1/cameras/${id}/recording/stop/`, { method: 'POST' })
  await sleep(3000)
  const hull = findHull(clock.steps, startMs, Date.now())
  // What was recorded ahead of the present is in the past when it is played.
  if (alone && clock.canBeSet) await clock.set(hull.endMs + 60_000 - Date.now())
  const placesVerdict = alone ? await places?.settle(alone) : await cluster!.settle()
  const moves = await cluster?.listMoves()
  if (keepIn) await mkdir(keepIn, { recursive: true })
  say('playing everything')
  const verdicts: CameraVerdict[] = []
  for (const { id, stream, codec, sent } of cameras) {
    const timeline = await readTimeline(http, id, hull)
    const played = await playRecording(http, id, hull, codec !== 'mjpeg').catch(async (error: unknown) => {
      // Whoever looks for the reason needs what the server said.
      if (keepIn) await writeFile(join(keepIn, 'server.log'), server.log())
      throw new Error(`camera ${id}, ${stream} cannot be played`, { cause: error })
    })
    if (keepIn)
      await keepEvidence(keepIn, id, {
        ...{ stream, timeline, played, sent, faults: [...faults, ...(moves?.get(id) ?? [])], steps: clock.steps },
        ...{ losses: losses.get(id), beginMs, endMs: endMs - lastMomentMs, stallMs: longestStallMs },
      })
    const verdict = judge({
      sent: sent.filter(({ unixMs }) => unixMs < endMs - lastMomentMs),
      played: played.pictures.filter(({ taken }) => !taken || taken.unixMs < endMs - lastMomentMs),
      carriesNumbers: codec !== 'mjpeg',
      timeline,
      steps: clock.steps,
      faults: [...faults.filter(({ camera }) => camera === undefined || camera === stream), ...(moves?.get(id) ?? [])],
      losses: losses.get(id) ?? [],
      beginMs,
      endMs: endMs - lastMomentMs,
      stallMs: longestStallMs,
    })
    verdicts.push({ ...verdict, camera: stream, decoderComplaints: played.complaints })
  }
  const ending = alone ? describeEnd(await alone.stop()) : await cluster!.stop()
  if (keepIn) await writeFile(join(keepIn, 'server.log'), server.log())
  const wrong = [
    ...complaints,
    ...(revoking?.complaints ?? []),
    ...(viewing?.complaints ?? []),
    ...(watching?.complaints ?? []),
    ...(placesVerdict?.complaints ?? []),
    ...ending,
  ]
  return { seed, faults, verdicts, complaints: wrong, longestStallMs, places: placesVerdict }
}

function describeEnd(code: number | null): string[] {
  return code === 0 ? [] : [`the server ended with code ${code}`]
}

function serverArgs(folders: readonly string[]): string[] {
  return ['--archive', folders.join(), '--rate-limit', '0', '--min-free', '0', '--workers', '2']
}

function listenForDeath(order: string): Record<string, string> {
  const program = new URL('./die-on-order.ts', import.meta.url).href
  return { NODE_OPTIONS: `--import=${program}`, NIGHTJAR_AUDIT_DEATH: order }
}

/** The owner of the cameras, who tries again while the server does not answer. */
function createOwner(server: Pick<AuditServer, 'request'>): Owner {
  const post = (path: string) =>
    eventually(`POST ${path}`, 90_000, async () => {
      const answer = await server.request(path, { method: 'POST' }).catch(() => undefined)
      return answer?.status === 204
    })
  return {
    stop: async (id) => void (await post(`/v1/cameras/${id}/recording/stop/`)),
    start: async (id) => void (await post(`/v1/cameras/${id}/recording/start/`)),
  }
}

async function record(server: Pick<AuditServer, 'request'>, { stream, url, codec }: AuditCamera): Promise<number> {
  const camera = { name: stream, url, type: codec }
  const added = await server.request('/v1/cameras/', { method: 'POST', body: camera })
  if (added.status !== 201) throw new Error(`${url} was not added: ${added.text}`)
  const { id } = added.json as { readonly id: number }
  const path = `/v1/cameras/${id}/recording/`
  const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P30D' } })
  if (status !== 201) throw new Error(`${url} is not recorded: ${text}`)
  return id
}

async function hasFootage(http: HttpReader, id: number): Promise<boolean> {
  const { recording_end } = await http.getJson<{ recording_end: string | null }>(`/v1/cameras/${id}/recording/`)
  return recording_end !== null
}

async function readStatus(http: HttpReader, id: number): Promise<string> {
  return (await http.getJson<{ status: string }>(`/v1/cameras/${id}/recording/`)).status
}

async function keepEvidence(folder: string, id: number, evidence: unknown): Promise<void> {
  await writeFile(join(folder, `camera-${id}.json`), JSON.stringify(evidence, null, 1))
}

/** All times that the server's clock showed, with some room. */
function findHull(steps: readonly ClockStep[], startMs: number, endMs: number): TimeRange {
  const moments = [startMs, endMs, ...steps.map(({ atMs }) => atMs).filter(Number.isFinite)]
  const times = moments.flatMap((ms) => serverTimes(steps, ms))
  return { startMs: Math.min(...times) - 10_000, endMs: Math.max(...times) + 10_000 }
}
