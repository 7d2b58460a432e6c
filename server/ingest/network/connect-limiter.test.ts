import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CameraError } from './camera-error.ts'
import { ConnectLimiter, type ConnectPermit } from './connect-limiter.ts'

const never = new AbortController().signal
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('the number of connections per host is limited, and the others wait in order', async () => {
  const connectLimiter = new ConnectLimiter(2)
  const order: string[] = []
  const enter = async (name: string, host: string) => {
    const permit = await connectLimiter.enter(host, never)
    order.push(name)
    return permit
  }
  const permits = ['a1', 'a2', 'a3', 'a4'].map((name) => enter(name, 'a'))
  permits.push(enter('b1', 'b'))
  await settled()
  assert.deepEqual(order, ['a1', 'a2', 'b1'])
  const first = await permits[0]!
  first.release()
  first.release()
  await settled()
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3'])
  ;(await permits[1]!).release()
  await settled()
  assert.equal(order.at(-1), 'a4')
})

test('an unreachable host fails all waiting connections, and any other failure only its own', async () => {
  const connectLimiter = new ConnectLimiter(1)
  const first = await connectLimiter.enter('a', never)
  const second = connectLimiter.enter('a', never)
  first.release(new CameraError('camera_unreachable', 'closed'))
  const permit = await second
  const waiting = [connectLimiter.enter('a', never), connectLimiter.enter('a', never)]
  const refusals = Promise.allSettled(waiting)
  permit.release(new CameraError('camera_unreachable', 'unreachable', { isUnreachable: true }))
  for (const refusal of await refusals) {
    assert.ok(refusal.status === 'rejected' && refusal.reason.message === 'unreachable')
  }
  ;(await connectLimiter.enter('a', never)).release()
})

test('an aborted waiter does not take a permit', async () => {
  const connectLimiter = new ConnectLimiter(1)
  const first = await connectLimiter.enter('a', never)
  const aborting = new AbortController()
  const second = assert.rejects(connectLimiter.enter('a', aborting.signal), /enough/)
  const third = connectLimiter.enter('a', never)
  aborting.abort(new Error('enough'))
  await second
  first.release()
  ;(await third).release()
  await assert.rejects(connectLimiter.enter('a', aborting.signal), /enough/)
})

test('the limit holds for any order of entering, aborting and failing, and every waiter is served in the end', async () => {
  const waiter = fc.record({
    host: fc.constantFrom('a', 'b'),
    abortsEarly: fc.boolean(),
    failure: fc.constantFrom('none', 'own', 'own', 'host'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(waiter, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (waiters, perHost) => {
      const connectLimiter = new ConnectLimiter(perHost)
      const running = { a: 0, b: 0 }
      const attempts = waiters.map(async ({ host, abortsEarly, failure }) => {
        const aborting = new AbortController()
        if (abortsEarly) setImmediate(() => aborting.abort(new Error('left')))
        let permit: ConnectPermit
        try {
          permit = await connectLimiter.enter(host as 'a', aborting.signal)
        } catch {
          return
        }
        running[host as 'a']++
        assert.ok(running[host as 'a'] <= perHost)
        await settled()
        running[host as 'a']--
        const isUnreachable = failure === 'host'
        permit.release(failure === 'none' ? undefined : new CameraError('camera_unreachable', 'x', { isUnreachable }))
      })
      await Promise.all(attempts)
      for (const host of ['a', 'b']) {
        for (let i = 0; i < perHost; i++) await connectLimiter.enter(host, never)
      }
    }),
    { numRuns: 100 },
  )
})
