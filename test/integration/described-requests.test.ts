// Tests the server against its own description: valid and invalid requests are generated from /openapi.json and sent by
// users who have cameras, footage and guests. Nothing may fail internally, every response must be described, and the
// data must be consistent afterwards.

import assert from 'node:assert/strict'
import { Agent, request as httpsRequest } from 'node:https'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Recording } from '../../contract/recording.ts'
import type { OpenApiDocument } from '../../server/api/description/openapi.ts'
import { isPostgresUrl } from '../../server/store/postgres/postgres-url.ts'
import { createRequests, type DescribedOperation, type DescribedRequest } from '../description/described-requests.ts'
import {
  findItemParameter,
  isAsked,
  KnownObjects,
  listOperations,
  type ObjectsByParameter,
} from '../description/known-objects.ts'
import { SchemaValues } from '../description/schema-values.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { testPostgres } from '../postgres/each-database.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { createAnswerCheck, type SentAnswer } from '../support/api/check-answer.ts'

/**
 * Password of users who do not call with a token. It is in no example, because whoever knows the password of a caller
 * can revoke the caller's token.
 */
const lodgersPassword = 'a lodger of many summers'

test(
  'T42: 2,000 requests generated from the API description cause no 5xx and no undescribed response, and leave consistent data',
  {
    timeout: 600_000,
  },
  async (t) => run(t, 2000),
)

testPostgres('1,000 requests generated from the API description pass on PostgreSQL', async (t, postgres) => {
  process.env.NIGHTJAR_DATABASE = await postgres.createDatabase()
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  await run(t, 1000)
})

async function run(t: TestContext, requestCount: number): Promise<void> {
  await using camera = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  await using server = await openServer('--rate-limit', '0', '--token-rate-limit', '0')
  const description = (await server.request<OpenApiDocument>('/openapi.json')).json
  const household = await openHousehold(server, camera.url('a'))
  const operations = listOperations(description).filter(isAsked)
  const knownObjects = new KnownObjects(operations, household.objects)
  const nowhere = fc.constantFrom('rtsp://127.0.0.1:9/none', 'rtsp://ada:secret@127.0.0.1:9/none')
  const requests = createRequests(operations, {
    values: new SchemaValues(description, {
      url: fc.oneof(fc.constant(camera.url('a')), nowhere),
      client_id: fc.constantFrom(household.clientId, 'nobody'),
      username: fc.constantFrom('linus@example.com', 'ada'),
      password: fc.constantFrom(lodgersPassword, 'x'),
      scope: fc.constantFrom('read', 'user_access', 'account_manage', 'nothing', ''),
      camera: fc.constantFrom(...household.objects.camera_id!, 424242),
      hash: fc.constantFrom(...household.hashes, '0'.repeat(32)),
    }),
    callers: household.callers,
  })

  const checkAnswer = createAnswerCheck(description)
  let agent = new Agent({ keepAlive: true, ca: server.ca })
  t.after(() => agent.destroy())
  let sent = 0
  const tally = new Map<string, number>()
  const requestedIds = new Set<string>()
  const seed = Number(process.env.NIGHTJAR_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`seed ${seed}; npm test -- described-requests --seed ${seed} repeats it`)
  const property = fc.asyncProperty(requests, async (request) => {
    const url = `${server.url}${knownObjects.writePath(request)}?${request.query}`
    // The server delays connections whose requests are rejected repeatedly.
    if (++sent % 50 === 0) {
      agent.destroy()
      agent = new Agent({ keepAlive: true, ca: server.ca })
    }
    const fail = (cause: unknown) => Promise.reject(new Error(describe(request, url), { cause }))
    const answer = await send(agent, url, request).catch(fail)
    try {
      assert.ok(answer.status < 500, `${answer.status} ${answer.body}`)
      checkAnswer(answer)
    } catch (error) {
      await fail(error)
    }
    knownObjects.learn(request, answer)
    requestedIds.add(request.operation.operationId)
    const group = `${Math.floor(answer.status / 100)}xx`
    tally.set(group, (tally.get(group) ?? 0) + 1)
  })
  // Failures are not shrunk, because the objects that existed at the time of a failure may be gone.
  await fc.assert(property, { numRuns: requestCount, seed, endOnFailure: true })
  t.diagnostic(JSON.stringify(Object.fromEntries(tally)))

  // A run in which all requests are rejected, or none, would prove little.
  assert.ok(tally.get('2xx')! > requestCount / 10 && tally.get('4xx')! > requestCount / 10)
  const missed = operations.map(({ operation }) => operation.operationId).filter((name) => !requestedIds.has(name))
  // Of 1,000 requests, none is for one of the 76 operations in one of some 7,000 runs.
  if (requestCount >= 2000) assert.deepEqual(missed, [])
  await checkOrder(server, operations)
}

type Made = { readonly id: number; readonly client_id?: string; readonly event_api_hash?: string }

type Household = {
  readonly clientId: string
  readonly hashes: readonly string[]
  readonly callers: readonly (string | undefined)[]
  readonly objects: ObjectsByParameter
}

/** An owner with two cameras, one of them recorded, shared and with events; two other users; and an application. */
async function openHousehold(server: ServerUnderTest, cameraUrl: string): Promise<Household> {
  const post = async (path: string, body: object) => {
    const { status, json, text } = await server.request<Made>(path, { method: 'POST', body })
    assert.equal(status, 201, text)
    return json
  }
  const front = await post('/v1/cameras/', { name: 'Front door', url: cameraUrl })
  const yard = await post('/v1/cameras/', { name: 'Yard', url: 'rtsp://127.0.0.1:9/none' })
  await post(`/v1/cameras/${front.id}/recording/`, { retention: 'P7D' })
  await post('/v1/users/', {
    email: 'grace@example.com',
    password: `another ${lodgersPassword}`,
    own_password: 'correct horse',
  })
  const linus = await post('/v1/users/', {
    email: 'linus@example.com',
    password: lodgersPassword,
    own_password: 'correct horse',
  })
  const permissions = { can_view_rec: true }
  const guests = [
    await post(`/v1/cameras/${front.id}/guests/`, { email: 'grace@example.com', permissions }),
    await post(`/v1/cameras/${front.id}/guests/`, { email: 'nobody.yet@example.com' }),
  ]
  for (const category of ['doorbell', 'motion']) await post('/v1/events/', { camera: front.id, category })
  const application = await post('/v1/me/applications/', {
    name: 'Porch Light',
    redirect_uris: [],
    allow_password: true,
    confidential: false,
    password: 'correct horse',
  })
  const createToken = async (...args: string[]) => {
    return `PersonalAccessToken ${(await server.command<{ token: string }>('token', 'create', ...args)).token}`
  }
  const guest = await createToken('--user', 'grace@example.com')
  const reader = await createToken('--user', 'owner@example.com', '--scope', 'read')
  const owner = `PersonalAccessToken ${server.token}`
  const strange = ['Bearer njat_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5eF6', 'Basic YWRhOmNvcnJlY3QgaG9yc2U=']
  await eventually('footage', 30_000, async () => {
    const recording = await server.request<Recording>(`/v1/cameras/${front.id}/recording/`)
    return recording.json.recording_start !== null
  })
  return {
    clientId: application.client_id!,
    hashes: [front.event_api_hash!, yard.event_api_hash!],
    callers: [...Array<string>(8).fill(owner), guest, guest, guest, reader, ...strange, undefined],
    objects: {
      camera_id: [front.id, yard.id],
      guest_id: guests.map(({ id }) => id),
      application_id: [application.id],
      user_id: [linus.id],
    },
  }
}

/** Sends one HTTP/1.1 request and returns the response. */
function send(agent: Agent, url: string, request: DescribedRequest): Promise<SentAnswer> {
  const { method, headers, body } = request
  const { promise, resolve, reject } = Promise.withResolvers<SentAnswer>()
  const sent = method === 'GET' ? undefined : body
  const length = sent === undefined ? {} : { 'content-length': Buffer.byteLength(sent) }
  const outgoing = httpsRequest(url, { method, agent, headers: { ...headers, ...length } }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      resolve({ method, url, status: response.statusCode!, headers: response.headers, body: text })
    })
  })
  outgoing.on('error', (error) => {
    // The server closed the idle connection while this request was on its way.
    if (outgoing.reusedSocket) resolve(send(new Agent({ ca: agent.options.ca }), url, request))
    else reject(error)
  })
  outgoing.end(sent)
  return promise
}

function describe({ operation, method, headers, body }: DescribedRequest, url: string): string {
  const { authorization = 'nobody', 'content-type': type } = headers
  const sent = typeof body === 'string' ? body.slice(0, 2000) : body && Buffer.from(body).toString('hex')
  return `${operation.operationId}: ${method} ${url.slice(0, 2000)} by ${authorization.slice(0, 24)}… with ${type} ${sent}`
}

/**
 * Checks that the server runs and logged no error, that all lists and their items can be read, and that files and rows
 * agree.
 */
async function checkOrder(server: ServerUnderTest, operations: readonly DescribedOperation[]): Promise<void> {
  assert.equal((await server.request('/healthz')).status, 200)
  assert.doesNotMatch(server.log(), /a (request|page) failed/)
  const gets = operations.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/'))
  for (const { path } of gets.filter(({ path }) => !path.includes('{'))) {
    const list = await server.request<{ count?: number; results?: { id: number | string }[] }>(`${path}?limit=1000`)
    assert.equal(list.status, 200, path)
    if (list.json.results === undefined) continue
    assert.equal(list.json.results.length, Math.min(list.json.count!, 1000), path)
    const isReadable =
      findItemParameter(
        gets.map((other) => other.path),
        path,
      ) !== undefined
    for (const { id } of isReadable ? list.json.results : []) {
      assert.equal((await server.request(`${path}${id}/`)).status, 200, `${path}${id}`)
    }
  }
  await server.stop()
  if (!isPostgresUrl(server.database)) {
    using database = new DatabaseSync(server.database, { readOnly: true })
    assert.deepEqual(database.prepare('pragma integrity_check').all().map(Object.values), [['ok']])
    assert.deepEqual(database.prepare('pragma foreign_key_check').all(), [])
  }
  assert.equal((await server.command<{ ok: boolean }>('check')).ok, true)
}
