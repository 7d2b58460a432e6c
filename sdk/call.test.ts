// Tests the client with a server whose responses each test defines, for failures that a real server does not produce on
// demand.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { personalToken } from './auth.ts'
import { type ClientOptions, createClient } from './client.ts'
import { NightjarError } from './error.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Sends the answers in order, and repeats the last one. */
async function serve(t: TestContext, ...answers: Answer[]) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]!
    requests.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const open = (options: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl, auth: personalToken('njp_x'), ...options })
  return { open, requests }
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

const busy = (status: number, retryAfter?: string) =>
  json(
    status,
    { status, title: 'busy', detail: 'Busy.' },
    retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  )

const never: Answer = () => {}

async function failure(work: Promise<unknown>): Promise<NightjarError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof NightjarError, String(error))
  return error
}

test('requests to a busy server are retried after Retry-After, up to the configured number of times', async (t) => {
  const { open, requests } = await serve(t, busy(429, '0'), busy(503, '1'), json(200, { id: 1 }))
  assert.deepEqual(await open({ retry: { times: 2 } }).me.get(), { id: 1 })
  assert.equal(requests.length, 3)
})

test('requests are not retried without the option, beyond the maximum wait, or if they may have taken effect', async (t) => {
  const cases: [Answer, Partial<ClientOptions>, number | undefined][] = [
    [busy(429, '1'), {}, 1],
    [busy(429, '31'), { retry: { times: 9 } }, 31],
    [busy(429, '6'), { retry: { times: 9, maxWaitSeconds: 5 } }, 6],
    [busy(429), { retry: { times: 9 } }, undefined],
    [busy(500, '0'), { retry: { times: 9 } }, 0],
    [busy(503, '0'), { retry: { times: 9 } }, 0],
  ]
  for (const [answer, options, retryAfterSeconds] of cases) {
    const { open, requests } = await serve(t, answer)
    const error = await failure(open(options).cameras.create({ name: 'A', url: 'rtsp://a/' }))
    assert.equal(error.retryAfterSeconds, retryAfterSeconds)
    assert.equal(requests.length, 1)
  }
  const { open, requests } = await serve(t, busy(429, '0'))
  assert.equal((await failure(open({ retry: { times: 3 } }).me.get())).status, 429)
  assert.equal(requests.length, 4)
})

test('a Retry-After date is reported in seconds', async (t) => {
  const { open } = await serve(t, busy(503, new Date(Date.now() + 100_000).toUTCString()))
  const { retryAfterSeconds } = await failure(open().me.get())
  assert.ok(retryAfterSeconds! > 60 && retryAfterSeconds! <= 101, String(retryAfterSeconds))
})

test('timeouts and broken connections are reported as such', async (t) => {
  const silent = await serve(t, never)
  const timeout = await failure(silent.open({ timeoutMs: 50 }).me.get())
  assert.deepEqual([timeout.status, timeout.title, timeout.detail], [0, 'timeout', 'No answer within 0.05 seconds.'])
  assert.equal((await failure(silent.open().me.get({ timeoutMs: 50 }))).title, 'timeout')
  const stalled = await serve(t, (_request, response) => response.writeHead(200).write('{"id":'))
  assert.equal((await failure(stalled.open({ timeoutMs: 50 }).me.get())).title, 'timeout')
  const broken = await serve(t, (request) => request.socket.destroy())
  const lost = await failure(broken.open().me.get())
  assert.deepEqual([lost.status, lost.title], [0, 'network_error'])
  assert.ok(lost.cause instanceof Error)
})

test('the timeout can be infinite', async (t) => {
  const { open } = await serve(t, json(200, { id: 1 }))
  assert.deepEqual(await open({ timeoutMs: Number.POSITIVE_INFINITY }).me.get(), { id: 1 })
})

test('aborting a call rejects it with the reason of the signal: before, during, and while it waits for a retry', async (t) => {
  const reason = new Error('the user left the page')
  const { open, requests } = await serve(t, never)
  await assert.rejects(open().me.get({ signal: AbortSignal.abort(reason) }), reason)
  assert.equal(requests.length, 0)
  const during = new AbortController()
  const call = open().me.get({ signal: during.signal })
  setTimeout(() => during.abort(reason), 20)
  await assert.rejects(call, reason)
  const waiting = await serve(t, busy(429, '30'))
  const later = new AbortController()
  const repeated = waiting.open({ retry: { times: 1 } }).me.get({ signal: later.signal })
  setTimeout(() => later.abort(reason), 100)
  await assert.rejects(repeated, reason)
})

test('responses that are not from the API are reported as errors', async (t) => {
  const page: Answer = (_request, response) => response.writeHead(502).end('<h1>Bad gateway</h1>')
  const proxy = await failure((await serve(t, page)).open().me.get())
  assert.deepEqual([proxy.status, proxy.title, proxy.detail], [502, 'http_502', 'The server answered 502 (http_502).'])
  const text: Answer = (_request, response) => response.end('hello')
  assert.equal((await failure((await serve(t, text)).open().me.get())).title, 'invalid_answer')
  const away: Answer = (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()
  const redirected = await serve(t, away)
  assert.equal((await failure(redirected.open().me.get())).title, 'network_error')
  assert.equal(redirected.requests.length, 1)
  const stuck = { count: 3, next: 'https://cameras.example/v1/cameras/?limit=1', previous: null, results: [{ id: 1 }] }
  const list = (await serve(t, json(200, stuck))).open().cameras.listAll()
  await list.next()
  assert.equal((await failure(list.next())).title, 'invalid_answer')
})

test('parameters are encoded correctly', async (t) => {
  const { open, requests } = await serve(t, json(200, {}))
  const client = open()
  const start = new Date('2026-03-29T01:00:00.250Z')
  await client.cameras.getTimeline(7, { start, end: '2026-03-29T03:00:00+02:00' })
  await client.cameras.list({ limit: 2, offset: undefined, refresh_rate: 0.1 })
  await client.call('deleteSession', { params: { session_id: '../a b' } })
  assert.deepEqual(requests, [
    'GET /v1/cameras/7/recording/timeline/?start=2026-03-29T01%3A00%3A00.250Z&end=2026-03-29T03%3A00%3A00%2B02%3A00',
    'GET /v1/cameras/?limit=2&refresh_rate=0.1',
    'DELETE /v1/me/sessions/..%2Fa%20b/',
  ])
})

test('a list returns each item once, even if items move to the next page', async (t) => {
  const page = (offset: number, ids: number[], isLast = false) =>
    json(200, {
      count: 4,
      next: isLast ? null : `https://cameras.example/v1/events/?limit=2&offset=${offset + 2}`,
      previous: null,
      results: ids.map((id) => ({ id })),
    })
  const { open, requests } = await serve(t, page(0, [4, 3]), page(2, [3, 2]), page(4, [1], true))
  const ids: number[] = []
  for await (const { id } of open().events.listAll({ limit: 2 })) ids.push(id)
  assert.deepEqual(ids, [4, 3, 2, 1])
  assert.deepEqual(
    requests,
    [0, 2, 4].map((offset) => `GET /v1/events/?limit=2&offset=${offset}`),
  )
})

test('credentials are sent only over TLS or within this machine', () => {
  const open = (baseUrl: string) => createClient({ baseUrl })
  for (const baseUrl of [
    'https://cameras.example',
    'https://cameras.example/nightjar/',
    'http://localhost:1',
    'http://127.0.0.1',
    'http://[::1]:8443',
  ]) {
    open(baseUrl)
  }
  for (const baseUrl of [
    'http://cameras.example',
    'http://localhost.evil.example',
    'http://127.evil.example',
    'ftp://localhost',
    'cameras.example',
    '',
  ]) {
    assert.throws(() => open(baseUrl), TypeError, baseUrl)
  }
})
