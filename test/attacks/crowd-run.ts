// Records twenty cameras on a small machine while an account, a guest and a stranger perform every expensive operation
// at once from ten IP addresses. No frame may be lost, other users must be served, and the memory must be freed. See
// docs/design/attacks.md.

import { Agent, get } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { openDnsServer } from '../dns-server.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { readRecordedNumbers } from '../hostile/read-recording.ts'
import { eventually, openServerWith, type ServerUnderTest } from '../server-under-test.ts'
import type { CrowdOrders, CrowdTally } from './crowd.ts'
import {
  inspectable,
  openMemoryInspector,
  readTreeMemory,
  type ServerMemory,
  type TreeMemory,
} from './server-memory.ts'

export type CrowdRunOptions = {
  readonly seconds: number
  readonly cameras: number
  /** Memory of the machine in MiB, as configured for the server. */
  readonly memoryMiB: number
  /** Pause after the attack before memory is measured. */
  readonly restMs: number
  readonly say: (text: string) => void
}

export type CrowdRunReport = {
  readonly seconds: number
  /** Frames that were sent and should be recorded, how many of them are missing, and the number of gaps. */
  readonly frames: { readonly due: number; readonly missing: number; readonly gaps: number }
  /** Latencies of the owner's `/v1/me/`, requested ten times a second during the attack and before it. */
  readonly honest: Latencies
  readonly honestBefore: Latencies
  /** Resident memory of all processes of the server: before, the maximum during the attack, and after the pause. */
  readonly resident: { readonly before: TreeMemory; readonly most: TreeMemory; readonly after: TreeMemory }
  readonly main: { readonly before: ServerMemory; readonly after: ServerMemory }
  /** The responses to the attackers, by attack. */
  readonly attacks: CrowdTally
  readonly workerDeaths: number
  readonly complaints: readonly string[]
}

export type Latencies = {
  readonly count: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}

const video = { width: 480, height: 270, framesPerSecond: 25, bitsPerSecond: 300_000, hasAudio: false }
/** MB of JavaScript memory that may remain. */
const mayStayMB = 40

export async function runCrowd({ seconds, cameras, memoryMiB, restMs, say }: CrowdRunOptions): Promise<CrowdRunReport> {
  const streams = createLoadStreams(cameras, video)
  await using camera = await openFakeCamera({ streams })
  await using dns = await openDnsServer(({ name }) => (name.endsWith('.slow.example') ? 'silent' : 'unknown'))
  await using server = await openServerWith(
    { NODE_OPTIONS: inspectable },
    ...['--memory-mb', `${memoryMiB}`, '--name-servers', dns.address, '--log-level', 'warn'],
  )
  const { pid } = server
  const ids: number[] = []
  for (const { name } of streams) ids.push(await record(server, name, camera.url(name)))
  for (const id of ids) await eventually(`camera ${id} is recorded`, 60_000, () => isRecorded(server, id))
  const orders = await openAccounts(server, ids.slice(0, 3))
  const complaints: string[] = []
  const sent = () => streams.map(({ name }) => camera.stats().streams[name]!.framesSent)

  using inspector = await openMemoryInspector(server)
  const quiet = askHonestly(server)
  await sleep(Math.min(10_000, seconds * 500))
  const honestBefore = quiet.stop()
  const mainBefore = await inspector.read()
  const before = readTreeMemory(pid)
  let most = before
  const watch = setInterval(() => {
    const now = readTreeMemory(pid)
    if (now.totalMB > most.totalMB) most = now
  }, 1000)
  say(`${cameras} cameras are recorded, the attack begins; ${before.totalMB.toFixed(0)} MB`)

  const first = sent()
  const honestly = askHonestly(server)
  const attacks = await attack(orders, seconds * 1000)
  const honest = honestly.stop()
  say(`the attack is over; at most ${most.totalMB.toFixed(0)} MB`)
  await sleep(restMs)
  clearInterval(watch)
  const end = sent()
  const mainAfter = await inspector.read()
  inspector[Symbol.dispose]()
  const after = readTreeMemory(pid)
  await sleep(3000) // What was sent last is on its way.

  let gaps = 0
  for (const id of ids) gaps += await countGaps(server, id)
  if (server.pid !== pid || (await server.request('/v1/me/')).status !== 200)
    complaints.push('the server was restarted')
  const code = await server.stop()
  if (code !== 0) complaints.push(`the server ended with code ${code}`)
  const recorded = await Promise.all(ids.map((id) => readRecordedNumbers(server.dataDir, id)))
  const frames = { due: 0, missing: 0, gaps }
  for (const [i, { numbers }] of recorded.entries()) {
    const there = new Set(numbers)
    for (let number = first[i]!; number < end[i]! - 1; number++) {
      frames.due++
      if (!there.has(number)) frames.missing++
    }
  }
  const workerDeaths = server.log().split('a media worker crashed').length - 1
  if (frames.missing > 0 || gaps > 0) complaints.push(`${frames.missing} frames are missing, with ${gaps} gaps`)
  if (workerDeaths > 0) complaints.push(`${workerDeaths} media workers died`)
  if (honest.failed > 0) complaints.push(`${honest.failed} requests of the owner were not served`)
  const stays = mainAfter.heapMB + mainAfter.externalMB - mainBefore.heapMB - mainBefore.externalMB
  if (stays > mayStayMB) complaints.push(`${stays.toFixed(0)} MB of memory stay`)
  for (const line of server.log().split('\n')) if (/"level":(50|60)/.test(line)) complaints.push(`logged: ${line}`)
  return {
    ...{ seconds, frames, honest, honestBefore, attacks, workerDeaths, complaints },
    resident: { before, most, after },
    main: { before: mainBefore, after: mainAfter },
  }
}

async function record(server: ServerUnderTest, name: string, url: string): Promise<number> {
  const added = await server.request<{ id: number }>('/v1/cameras/', {
    method: 'POST',
    body: { name, url, type: 'h264' },
  })
  if (added.status !== 201) throw new Error(added.text)
  const path = `/v1/cameras/${added.json.id}/recording/`
  const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P1D' } })
  if (status !== 201) throw new Error(text)
  return added.json.id
}

async function isRecorded(server: ServerUnderTest, id: number): Promise<boolean> {
  const { json } = await server.request<{ recording_start: string | null }>(`/v1/cameras/${id}/recording/`)
  return json.recording_start !== null
}

async function countGaps(server: ServerUnderTest, id: number): Promise<number> {
  const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '')
  const query = `start=${time(Date.now() - 3_600_000)}&end=${time(Date.now())}`
  const { json } = await server.request<{ gaps: unknown[] }>(`/v1/cameras/${id}/recording/timeline/?${query}`)
  return json.gaps.length
}

/** Maximum number of cameras of an account. */
const cameraLimit = 100

/** Creates an account with the maximum number of cameras, and a guest who may see their recordings. */
async function openAccounts(
  server: ServerUnderTest,
  sharedIds: readonly number[],
): Promise<Omit<CrowdOrders, 'forMs'>> {
  const open = async (email: string) => {
    const person = ['--email', email, '--first-name', 'A', '--last-name', 'B']
    await server.command('user', 'add', '--password', 'a password of many words', ...person)
    return (await server.command<{ token: string }>('token', 'create', '--user', email)).token
  }
  const account = await open('account@example.com')
  await fillUp(server, account)
  const guest = await open('guest@example.com')
  const body = { email: 'guest@example.com', permissions: { can_view_rec: true } }
  for (const id of sharedIds) {
    const { status, text } = await server.request(`/v1/cameras/${id}/guests/`, { method: 'POST', body })
    if (status !== 201) throw new Error(text)
  }
  const app = ['--user', 'owner@example.com', '--name', 'Porch']
  const { client_id: clientId } = await server.command<{ client_id: string }>('app', 'add', ...app)
  return { url: server.url, ca: server.ca, account, guest, sharedIds: [...sharedIds], clientId }
}

/**
 * Accounts are limited in how fast they add cameras and owners are not, so this account is an owner while it adds them.
 */
async function fillUp(server: ServerUnderTest, token: string): Promise<void> {
  const authorization = `PersonalAccessToken ${token}`
  const { id } = (await server.request<{ id: number }>('/v1/me/', { authorization })).json
  const setOwner = async (is_owner: boolean) => {
    const body = { is_owner, own_password: 'correct horse' }
    const { status, text } = await server.request(`/v1/users/${id}/`, { method: 'PUT', body })
    if (status !== 200) throw new Error(text)
  }
  await setOwner(true)
  for (let i = 0; i < cameraLimit; i++) {
    const body = { name: `Camera ${i}`, type: 'h264', url: 'rtsp://127.0.0.1:9/' }
    const { status, text } = await server.request('/v1/cameras/', { method: 'POST', body, authorization })
    if (status !== 201) throw new Error(text)
  }
  await setOwner(false)
}

/** The attackers run in a thread of their own so that they do not delay the owner's requests. */
async function attack(orders: Omit<CrowdOrders, 'forMs'>, forMs: number): Promise<CrowdTally> {
  const worker = new Worker(new URL('crowd.ts', import.meta.url), { workerData: { ...orders, forMs } })
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error('the attackers ended without a message')))
    })
  } finally {
    await worker.terminate()
  }
}

function askHonestly(server: ServerUnderTest): { stop(): Latencies } {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca: server.ca })
  const tookMs: number[] = []
  let failed = 0
  const headers = { authorization: `PersonalAccessToken ${server.token}` }
  const ask = () => {
    const begunMs = performance.now()
    const request = get(new URL('/v1/me/', server.url), { agent, headers }, (answer) => {
      answer.resume()
      if (answer.statusCode !== 200) failed++
      answer.once('end', () => tookMs.push(performance.now() - begunMs))
    })
    request.setTimeout(10_000, () => request.destroy(new Error('no answer')))
    request.once('error', () => {
      if (!isOver) failed++
    })
  }
  let isOver = false
  const timer = setInterval(ask, 100)
  return {
    stop() {
      isOver = true
      clearInterval(timer)
      agent.destroy()
      const sorted = tookMs.toSorted((a, b) => a - b)
      const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
      return { count: sorted.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(0.9999) }
    },
  }
}
