import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { openLyingProvider } from '../../../test/identity/lying-provider.ts'
import { systemClock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/log.ts'
import { createOutgoingFetch, type OutgoingLimits } from './outgoing-fetch.ts'
import { ProviderClient } from './provider-client.ts'

const descriptionPath = '/.well-known/openid-configuration'

async function open(t: TestContext, limits: Partial<OutgoingLimits> = {}) {
  const provider = await openLyingProvider()
  t.after(() => provider[Symbol.asyncDispose]())
  let nowMs = 1000
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const settings = {
    id: 'office',
    name: 'The office',
    issuer: provider.issuer,
    clientId: 'nightjar',
    clientSecret: 'secret',
    linksByAddress: false,
    assignsAddresses: false,
    authMethod: undefined,
    answersByForm: false,
    hosts: [],
    ca: provider.ca,
  }
  const fetch = createOutgoingFetch({
    provider: settings,
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    lookupPublic: () => Promise.reject(new Error('it is not public')),
    limits,
  })
  const warnings: Record<string, unknown>[] = []
  const log: Logger = {
    ...silentLogger,
    warn: (fields: unknown) => void warnings.push(fields as Record<string, unknown>),
  }
  const redirectUri = 'https://localhost/sign-in/with/office/back/'
  const client = new ProviderClient({ settings, redirectUri, fetch, clock, log })
  const looks = () => provider.asked.filter((path) => path === descriptionPath).length
  return { provider, client, looks, warnings, pass: (ms: number) => void (nowMs += ms) }
}

const hourMs = 3_600_000

test('metadata is fetched once for all callers, is valid for an hour, and is used for a day while the provider fails', async (t) => {
  const { provider, client, looks, pass } = await open(t)
  await Promise.all(Array.from({ length: 20 }, () => client.begin(false)))
  assert.equal(looks(), 1)
  pass(hourMs - 1)
  await client.begin(false)
  assert.equal(looks(), 1)
  pass(1)
  await client.begin(false)
  assert.equal(looks(), 2)
  provider.describe = (response) => void response.writeHead(500).end()
  pass(hourMs)
  await client.begin(false)
  assert.equal(looks(), 3)
  await client.begin(false)
  assert.equal(looks(), 3, 'a failure is remembered')
  pass(10_000)
  await client.begin(false)
  assert.equal(looks(), 4)
  pass(24 * hourMs)
  await assert.rejects(client.begin(false), { kind: 'unavailable', retryAfterSeconds: 10 })
  await assert.rejects(client.begin(false), { kind: 'unavailable' })
  assert.equal(looks(), 5)
  provider.describe = undefined
  pass(10_000)
  const { location } = await client.begin(true)
  const { origin, searchParams } = new URL(location)
  assert.equal(origin, provider.issuer)
  assert.deepEqual([searchParams.get('code_challenge_method'), searchParams.get('prompt')], ['S256', 'login'])
})

test('each sign-in has its own state, nonce and verifier', async (t) => {
  const { client } = await open(t)
  const all = await Promise.all(Array.from({ length: 50 }, () => client.begin(false)))
  const values = all.flatMap(({ challenge }) => [challenge.state, challenge.nonce, challenge.verifier])
  assert.equal(new Set(values).size, 150)
  for (const value of values) assert.match(value, /^[\w-]{43}$/)
  for (const { location, challenge } of all) assert.ok(!location.includes(challenge.verifier))
})

test('slow and oversized responses are aborted', async (t) => {
  const { provider, client, pass } = await open(t, { totalMs: 300, maxBytes: 1000 })
  const failures: ((response: ServerResponse) => void)[] = [
    () => {},
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"a": "${'x'.repeat(2000)}`)
    },
    (response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
        .end(' '.repeat(5000)),
  ]
  for (const describe of failures) {
    provider.describe = describe
    await assert.rejects(client.begin(false), { kind: 'unavailable' })
    pass(10_000)
  }
})

test('invalid responses do not flood the log', async (t) => {
  const { client, pass, warnings } = await open(t)
  const comeBack = async () => {
    const { challenge } = await client.begin(false)
    return client.finish(
      new URLSearchParams({ code: 'x', state: challenge.state, iss: client.settings.issuer }),
      challenge,
      '192.0.2.1',
    )
  }
  for (let i = 0; i < 20; i++) assert.equal((await comeBack()).kind, 'invalid')
  assert.equal(warnings.length, 1)
  pass(10_000)
  await comeBack()
  assert.deepEqual([warnings.length, warnings[1]!.unsaid], [2, 19])
})

test('responses from one IP address are verified a few at a time and do not delay others', async (t) => {
  const { provider, client } = await open(t)
  const held: (() => void)[] = []
  const comeBack = async (ip: string, isSlow: boolean) => {
    const { location, challenge } = await client.begin(false)
    const answer = isSlow ? { answer: (response: ServerResponse) => void held.push(() => response.destroy()) } : {}
    return client.finish(
      provider.authorize(location, { claims: { email: 'a@x.example', email_verified: true }, ...answer }),
      challenge,
      ip,
    )
  }
  const slow = Array.from({ length: 60 }, () => comeBack('192.0.2.1', true))
  const quick = await comeBack('192.0.2.2', false)
  assert.equal(quick.kind, 'proved')
  assert.ok(held.length <= 4, `${held.length} at once`)
  // Once the queue is full, further calls are rejected at once.
  const refused = await Promise.race(slow)
  assert.equal(refused.kind, 'unavailable')
  let isOver = false
  const all = Promise.all(slow).finally(() => {
    isOver = true
  })
  while (!isOver) {
    for (const end of held.splice(0)) end()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.ok((await all).every(({ kind }) => kind === 'unavailable'))
})
