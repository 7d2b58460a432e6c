import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { type BegunSignIn, BegunSignIns } from './begun-sign-ins.ts'

/** A browser with two visits. */
const at = (cookieHeader: string | undefined, owner = 'visit a') => ({
  owner,
  owners: [owner, 'another visit'],
  cookieHeader,
})

async function open(t: TestContext) {
  const { store } = await openTemporaryStore(t)
  let nowMs = 1_800_000_000_000
  const begun = new BegunSignIns(randomBytes(32), { nowMs: () => nowMs }, store.usedValues)
  const create = (state: string, more: Partial<BegunSignIn> = {}): BegunSignIn => ({
    state,
    nonce: randomBytes(32).toString('base64url'),
    verifier: randomBytes(32).toString('base64url'),
    providerId: 'office',
    purpose: 'sign_in',
    path: '/',
    begunAtMs: nowMs,
    ...more,
  })
  return { begun, create, pass: (ms: number) => void (nowMs += ms) }
}

/** Returns the part of a Set-Cookie value that browsers send back. */
const sent = (cookie: string): string => cookie.split(';', 1)[0]!

test('a sign-in can be completed once, in its browser only, and does not affect others', async (t) => {
  const { begun, create } = await open(t)
  const [first, second] = [create('one'), create('two', { path: '/account/' })]
  const earlier = sent(begun.add(at(undefined, 'another visit'), first))
  const cookie = sent(begun.add(at(earlier), second))
  const of = (state: string, providerId = 'office') => ({ state, providerId })
  for (const [who, header, asked] of [
    ['visit b', cookie, of('two')],
    ['visit a', cookie, of('two', 'school')],
    ['visit a', cookie, of('three')],
    ['visit a', undefined, of('two')],
    ['visit a', `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`, of('two')],
  ] as const) {
    assert.equal(await begun.take(at(header, who), asked), undefined)
  }
  const taken = (await begun.take(at(cookie), of('two')))!
  assert.deepEqual(taken.begun, second)
  assert.equal(await begun.take(at(cookie), of('two')), undefined, 'the former cookie again')
  const last = (await begun.take(at(sent(taken.cookie)), of('one')))!
  assert.deepEqual(last.begun, first)
  assert.match(last.cookie, /^__Host-provider=; Max-Age=0;/)
})

test('each sign-in expires after ten minutes, even if the cookie is renewed', async (t) => {
  const { begun, create, pass } = await open(t)
  let cookie = sent(begun.add(at(undefined), create('one')))
  pass(9 * 60_000)
  cookie = sent(begun.add(at(cookie), create('two')))
  pass(2 * 60_000)
  assert.equal(await begun.take(at(cookie), { state: 'one', providerId: 'office' }), undefined)
  assert.ok(await begun.take(at(cookie), { state: 'two', providerId: 'office' }))
})

test('the cookie stays within the size limit of browsers, however long the return-to path is', async (t) => {
  const { begun, create } = await open(t)
  let cookie: string | undefined
  for (let length = 10; length <= 8000; length += 700) {
    const random = randomBytes(length).toString('base64url').slice(0, length)
    const each = create(`state ${length}`, { path: `/${random}` })
    const written = begun.add(at(cookie), each)
    assert.ok(written.length < 4096, String(written.length))
    cookie = sent(written)
    assert.ok(await begun.take(at(cookie), { state: each.state, providerId: 'office' }))
  }
})
