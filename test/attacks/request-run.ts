// Sends many malicious requests to a server with accounts that have data to protect. Each request is generated from a
// seed. Nothing may fail internally, no data may leak or change, and memory must be freed. See docs/design/attacks.md.

import { existsSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenApiDocument } from '../../server/api/description/openapi.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createRandom } from '../fake-camera/scene/random.ts'
import { openServerWith, type ServerUnderTest } from '../server-under-test.ts'
import { type Attack, type AttackKind, attackKinds, Dice } from './attack.ts'
import { createDescribedAttacks, type DescribedAttack } from './described-attacks.ts'
import { createHttp1Attack } from './http1-attacks.ts'
import { createHttp2Attack } from './http2-attacks.ts'
import { judgeAnswers } from './judge-answers.ts'
import { type MarkedAccount, type MarkedHousehold, openMarkedHousehold } from './marked-household.ts'
import { createCookieAttack, createMultipartAttack, createTokenAttack } from './other-attacks.ts'
import { exchange } from './raw-exchange.ts'
import { type RawAnswer, readAnswers } from './read-answers.ts'
import { inspectable, openMemoryInspector, type ServerMemory } from './server-memory.ts'

export type RequestRunOptions = {
  readonly count: number
  readonly seed: number
  /** Number of concurrent connections. */
  readonly atOnce: number
  /** Sends only these requests, by their number in the run; all of them by default. */
  readonly only: readonly number[] | undefined
  /** Pause after the last request before memory is measured: longer than the server keeps a stalled client. */
  readonly restMs: number
  readonly say: (text: string) => void
}

export type RequestRunReport = {
  readonly seed: number
  readonly attacks: number
  readonly answers: number
  /** Number of attacks and the status codes of the responses, by kind. */
  readonly kinds: { readonly [kind: string]: { attacks: number; readonly statuses: { [status: string]: number } } }
  /** Number of generated requests that changed something: successful ones other than GET. */
  readonly changes: number
  /** Memory after the first hundredth of the attacks and after the pause at the end, if it could be measured. */
  readonly memory: { readonly before: ServerMemory; readonly after: ServerMemory | undefined }
  /** Latencies of an honest client during the run. */
  readonly honest: {
    readonly count: number
    readonly p50Ms: number
    readonly p99Ms: number
    readonly longestMs: number
  }
  readonly seconds: number
  /** Problems that were found; empty if the run passed. */
  readonly complaints: readonly string[]
}

/** How often each kind is chosen, of 20. */
const shares: { readonly [Kind in AttackKind]: number } = {
  ...{ description: 8, http1: 4, http2: 4, multipart: 1, tokens: 2, cookies: 1 },
}
const drawn = attackKinds.flatMap((kind) => Array<AttackKind>(shares[kind]).fill(kind))
/** Makes the runtime collect garbage as on a small machine. */
const small = '--max-old-space-size=256 --max-semi-space-size=8'

const maxComplaints = 20

/** MB that may remain, including caches that fill up to their limits. */
const mayStayMB = { heap: 40, external: 40, resident: 200 }

export async function runRequests(options: RequestRunOptions): Promise<RequestRunReport> {
  const { count, seed, say } = options
  await using camera = await openFakeCamera({
    streams: [
      { name: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 20, loopSeconds: 4, hasAudio: false },
    ],
  })
  const limits = ['--rate-limit', '0', '--token-rate-limit', '0', '--log-level', 'warn']
  await using server = await openServerWith({ NODE_OPTIONS: `${inspectable} ${small}` }, ...limits)
  const { pid } = server
  const cameraUrl = camera.url('yard')
  const household = await openMarkedHousehold(server, cameraUrl)
  using inspector = await openMemoryInspector(server)
  const { host, port } = new URL(server.url)
  const grammar = { household, host }
  const description = (await server.request<OpenApiDocument>('/openapi.json')).json
  const described = createDescribedAttacks({ ...grammar, description, cameraUrl })
  const makers: { readonly [Kind in AttackKind]: (dice: Dice, seed: number) => Attack } = {
    description: (dice, own) => described.create(own, dice),
    http1: (dice) => createHttp1Attack(dice, grammar),
    http2: (dice) => createHttp2Attack(dice, grammar),
    multipart: (dice) => createMultipartAttack(dice, grammar),
    tokens: (dice) => createTokenAttack(dice, grammar),
    cookies: (dice) => createCookieAttack(dice, grammar),
  }
  const complaints: string[] = []
  const complain = (text: string) => {
    complaints.push(text)
    say(text)
  }
  const propertyBefore = await describeProperty(server, household.accounts.vera)
  using honest = openHonestClient(server, household.accounts.victor, complain)

  const report = {
    answers: 0,
    attacks: 0,
    changes: 0,
    kinds: {} as { [kind: string]: { attacks: number; statuses: { [status: string]: number } } },
  }
  let isDead = false
  const goesOn = () => !isDead && complaints.length < maxComplaints
  const session: { [protocol: string]: Buffer } = {}
  const attackOnce = async (number: number) => {
    const own = mixSeed(seed, number)
    const dice = new Dice(createRandom(own))
    const kind = dice.pick(drawn)
    const attack = makers[kind](dice, own)
    const { protocol } = attack
    const { bytes, refusal } = await exchange(attack, {
      ...{
        port: Number(port),
        ca: server.ca,
        localAddress: `127.0.0.${2 + (number % 10)}`,
        session: session[protocol],
      },
      onSession: (fresh) => {
        session[protocol] = fresh
      },
    })
    const answers = readAnswers(bytes, protocol)
    const faults = judgeAnswers(attack, bytes, answers, household.listForbidden(attack.callers))
    if (refusal !== undefined && !isDead && !existsSync(`/proc/${pid}`)) {
      isDead = true
      complain(`the server has ended, at the latest by ${number}:\n${server.log().slice(-3000)}`)
    }
    if (isDead) return
    if (refusal !== undefined) faults.push(`the connection was refused: ${refusal}`)
    for (const fault of faults) complain(`${number}: ${kind}, ${attack.what}: ${fault}\n${showAttack(attack)}`)
    if ('request' in attack && answers[0]) learn(attack as DescribedAttack, answers[0])
    report.attacks++
    report.answers += answers.length
    const tally = (report.kinds[kind] ??= { attacks: 0, statuses: {} })
    tally.attacks++
    for (const { status } of answers) tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
  }
  const learn = (attack: DescribedAttack, { status, body, headers }: RawAnswer) => {
    const { method } = attack.request
    if (method !== 'GET' && status >= 200 && status < 300) report.changes++
    described.learn(attack, { method, url: attack.url, status, headers, body: body.toString() })
  }

  const numbers = options.only ?? Array.from({ length: count }, (_, i) => i)
  const warmUp = Math.min(numbers.length, Math.max(300, Math.ceil(count / 100)))
  const startedMs = performance.now()
  await inParallel(numbers.slice(0, warmUp), options.atOnce, attackOnce, goesOn)
  const before = await inspector.read()
  let lastReportMs = performance.now()
  await inParallel(numbers.slice(warmUp), options.atOnce, attackOnce, () => {
    if (performance.now() - lastReportMs > 20_000) {
      lastReportMs = performance.now()
      say(`${report.attacks} of ${numbers.length}`)
    }
    return goesOn()
  })
  const seconds = (performance.now() - startedMs) / 1000
  const honestly = honest.stop()
  const soFar = { seed, ...report, honest: honestly, seconds, complaints }
  if (isDead) return { ...soFar, memory: { before, after: undefined } }
  await sleep(options.restMs)
  const after = await inspector.read()
  // A process does not end while an inspector is attached.
  inspector[Symbol.dispose]()
  const grown = {
    heap: after.heapMB - before.heapMB,
    external: after.externalMB - before.externalMB,
    resident: after.residentMB - before.residentMB,
  }
  for (const kind of ['heap', 'external', 'resident'] as const) {
    if (grown[kind] > mayStayMB[kind]) complain(`memory was not freed: ${grown[kind].toFixed(0)} MB, ${kind}`)
  }
  for (const id of household.accounts.vera.cameraIds) {
    const strangers = await listStrangers(server, household.accounts, id)
    if (strangers.length > 0) complain(`guests of camera ${id} that vera did not invite: ${strangers.join(', ')}`)
  }
  const propertyAfter = await describeProperty(server, household.accounts.vera)
  if (propertyAfter !== propertyBefore) complain(`vera's data has changed:\n${propertyBefore}\n${propertyAfter}`)
  if (server.pid !== pid) complain('the server was restarted')
  const code = await server.stop()
  if (code !== 0) complain(`the server ended with code ${code}`)
  for (const line of listErrors(server.log())) complain(`logged: ${line}`)
  return { ...soFar, memory: { before, after } }
}

/** Each attack has a seed of its own, so that it can be repeated without the ones before it. */
const mixSeed = (seed: number, number: number): number =>
  (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(number + 1, 0xc2b2ae35)) | 0

async function inParallel(
  numbers: readonly number[],
  atOnce: number,
  run: (number: number) => Promise<void>,
  goesOn: () => boolean,
): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < numbers.length && goesOn()) await run(numbers[next++]!)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

/** Describes what only vera may change, without values that change by themselves and guests, who may leave. */
async function describeProperty(server: ServerUnderTest, { token, cameraIds }: MarkedAccount): Promise<string> {
  const lists = [
    '/v1/me/',
    '/v1/cameras/',
    '/v1/events/',
    '/v1/me/tokens/',
    '/v1/me/applications/',
    '/v1/me/authorizations/',
    '/v1/me/sessions/',
  ]
  const recordings = cameraIds.map((id) => `/v1/cameras/${id}/recording/`)
  const lines: string[] = []
  for (const path of [...lists, ...recordings]) {
    const { status, json } = await server.request<object>(path, { authorization: `PersonalAccessToken ${token}` })
    const lasting = JSON.stringify(json, (key, value) => (isLasting(key) ? value : undefined))
    lines.push(`${path} ${status === 404 && path.includes('recording') ? '' : status} ${lasting}`)
  }
  return lines.join('\n')
}

async function listStrangers(
  server: ServerUnderTest,
  { vera, gus }: MarkedHousehold['accounts'],
  cameraId: number,
): Promise<string[]> {
  type Guests = { readonly results: readonly { readonly email: string }[] }
  const authorization = `PersonalAccessToken ${vera.token}`
  const { json } = await server.request<Guests>(`/v1/cameras/${cameraId}/guests/`, { authorization })
  return json.results.map(({ email }) => email).filter((email) => email !== gus.email)
}

const isLasting = (key: string) =>
  !/^(status.*|snapshot|live_snapshot|streams|last_used.*|last_seen.*|recording_.*|.*_bytes|.*enabled|has_recording|results_.*|cameras_with_guests_count|detail|errors)$/.test(
    key,
  )

function openHonestClient(server: ServerUnderTest, { token }: MarkedAccount, complain: (text: string) => void) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: server.ca })
  const tookMs: number[] = []
  let isOver = false
  const ask = () => {
    const begunMs = performance.now()
    const failed = (why: string) => {
      if (isOver) return
      complain(`an honest client was not served: ${why}`)
    }
    const request = get(
      new URL('/v1/me/', server.url),
      { agent, headers: { authorization: `PersonalAccessToken ${token}` } },
      (answer) => {
        answer.resume()
        if (answer.statusCode !== 200) failed(`${answer.statusCode}`)
        answer.once('end', () => {
          tookMs.push(performance.now() - begunMs)
          if (!isOver) setTimeout(ask, 100)
        })
      },
    )
    request.setTimeout(60_000, () => request.destroy(new Error('no answer in a minute')))
    request.once('error', (error) => failed(error.message))
  }
  ask()
  const stop = () => {
    isOver = true
    agent.destroy()
    const sorted = tookMs.toSorted((a, b) => a - b)
    const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
    return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: Math.round(sorted.at(-1) ?? 0) }
  }
  return { stop, [Symbol.dispose]: () => void (isOver || stop()) }
}

/**
 * Returns log lines of level error and lines that are not log entries. Node warns about headers that HTTP/2 does not
 * allow, and omits them.
 */
function listErrors(log: string): string[] {
  return log.split('\n').filter((line) => {
    try {
      return line !== '' && (JSON.parse(line) as { level: number }).level >= 50
    } catch {
      return !/^(Debugger |For help, see|Starting inspector|\(node:\d+\) UnsupportedWarning|\(Use `node --trace-warnings)/.test(
        line,
      )
    }
  })
}

const shownBytes = 1500

function showAttack({ writes, protocol, callers, ending }: Attack): string {
  const bytes = Buffer.concat(writes)
  const text =
    protocol === 'h2' ? bytes.toString('hex', 0, shownBytes) : JSON.stringify(bytes.toString('latin1', 0, shownBytes))
  return `  by ${callers.join(' and ') || 'nobody'}, ${bytes.length} bytes of ${protocol}, then ${ending}: ${text}`
}
