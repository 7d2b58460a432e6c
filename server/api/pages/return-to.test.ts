import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { LongPaths } from '../../auth/sessions/long-paths.ts'
import { ReturnToSealer } from './return-to.ts'

/** The rows of `KeptValues`. */
const kept = new Map<string, Uint8Array>()
const rows = {
  put: async (name: string, sealed: Uint8Array) => void kept.set(name, sealed),
  find: async (name: string) => ({ sealed: kept.get(name) ?? null }),
}

function createReturnToSealer(key: Uint8Array = randomBytes(32)) {
  let nowMs = 0
  const clock = { nowMs: () => nowMs }
  const returnToSealer = new ReturnToSealer(key, clock, new LongPaths({ rows, key, clock }))
  return { returnToSealer, key, pass: (ms: number) => void (nowMs += ms) }
}

const returnTo = { path: '/oauth/authorize/?state=x', appName: 'Doorbell', leadsOut: true }

test('what is sealed is opened by the same browser, for twelve hours, after a restart too', () => {
  const { returnToSealer, key, pass } = createReturnToSealer()
  const sealed = returnToSealer.seal('ada', returnTo)!
  assert.match(sealed, /^[\w-]+$/)
  assert.deepEqual(returnToSealer.open('ada', sealed), returnTo)
  assert.equal(returnToSealer.open('eve', sealed), undefined)
  assert.deepEqual(createReturnToSealer(key).returnToSealer.open('ada', sealed), returnTo)
  assert.equal(createReturnToSealer().returnToSealer.open('ada', sealed), undefined)
  pass(12 * 3_600_000 - 1)
  assert.deepEqual(returnToSealer.open('ada', sealed), returnTo)
  pass(1)
  assert.equal(returnToSealer.open('ada', sealed), undefined)
})

test('it tells nothing, and nothing of it can be changed', () => {
  const { returnToSealer } = createReturnToSealer()
  const sealed = returnToSealer.seal('ada', returnTo)!
  const bytes = Buffer.from(sealed, 'base64url')
  for (const form of [sealed, bytes.toString('latin1')]) assert.doesNotMatch(form, /authorize|Doorbell|example/)
  assert.notEqual(returnToSealer.seal('ada', returnTo), sealed)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(returnToSealer.open('ada', altered.toString('base64url')), undefined, `bit ${bit}`)
  }
  for (const cut of [0, 1, 12, 28, bytes.length - 1]) {
    assert.equal(returnToSealer.open('ada', bytes.subarray(0, cut).toString('base64url')), undefined)
  }
  assert.equal(returnToSealer.open('ada', 'A'.repeat(4097)), undefined)
})

test('whatever is sent is opened or is nothing', () => {
  const { returnToSealer } = createReturnToSealer()
  const check = (sent: string) => assert.equal(returnToSealer.open('ada', sent), undefined)
  fc.assert(fc.property(fc.string({ unit: 'binary' }), check))
  const bytes = fc.uint8Array({ maxLength: 300 })
  fc.assert(fc.property(bytes.map((each) => Buffer.from(each).toString('base64url')), check)) // biome-ignore format: one line
})

test('only places on this server; the longest state that applications may send fits', async () => {
  const { returnToSealer, key } = createReturnToSealer()
  for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', 'account/', '', '/a b']) {
    assert.equal(returnToSealer.seal('ada', { path }), undefined, path)
  }
  for (const length of [100, 1500, 2000, 8192]) {
    const state = Array.from({ length: length / 2 }, () => randomBytes(1).toString('hex')).join('')
    const long = { ...returnTo, path: `/oauth/authorize/?client_id=app&state=${state}` }
    const sealed = returnToSealer.seal('ada', long)!
    assert.ok(sealed.length <= 4096, String(sealed.length))
    assert.deepEqual(await returnToSealer.lengthen(returnToSealer.open('ada', sealed)!), long)
  }
  // After a restart, and on another server.
  const restarted = createReturnToSealer(key).returnToSealer
  const long = { path: `/${'x'.repeat(2000)}` }
  const opened = restarted.open('ada', returnToSealer.seal('ada', long)!)!
  assert.deepEqual(await restarted.lengthen(opened), long)
  assert.ok([...kept.values()].every((sealed) => !Buffer.from(sealed).includes('xxxx')))
  kept.clear()
  assert.equal(await restarted.lengthen(opened), undefined)
})
