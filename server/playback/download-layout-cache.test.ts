import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../base/error.ts'
import type { DownloadLayout } from './download-layout.ts'
import { DownloadLayoutCache } from './download-layout-cache.ts'

const layout: DownloadLayout = { head: new Uint8Array(), parts: [], totalBytes: 0, etag: '"x"' }

const create = () => new DownloadLayoutCache(10_000)

test('few layouts are created at a time, and requests are rejected when too many of the account wait', async () => {
  const layouts = create()
  let making = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 510 }, (_, i) =>
      layouts.load(`${i}`, 1, async () => {
        most = Math.max(most, ++making)
        await new Promise((resolve) => setImmediate(resolve))
        making--
        if (i === 1) throw new Error('the file is gone')
        return layout
      }),
    ),
  )
  assert.equal(most, 2)
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as AppError] : []))
  assert.deepEqual([...new Set(refused.map(({ kind }) => kind))], [undefined, 'unavailable'])
  assert.equal(refused.length, 1 + 510 - 502)
  assert.equal(await layouts.load('1', 1, async () => layout), layout)
})

test('requests for the same layout share the work', async () => {
  const layouts = create()
  let made = 0
  const make = async () => {
    made++
    return layout
  }
  await Promise.all([layouts.load('a', 1, make), layouts.load('a', 1, make)])
  await layouts.load('a', 1, make)
  assert.equal(made, 1)
})

test('what is being sent is bounded, for all and for an account, whose first download is always sent', () => {
  const layouts = create()
  const ofBytes = (bytes: number): DownloadLayout => ({ ...layout, head: new Uint8Array(bytes) })
  const own = ofBytes(1500)
  const first = layouts.hold(1, own)
  const again = layouts.hold(1, own)
  using _small = layouts.hold(1, ofBytes(1000))
  assert.throws(() => layouts.hold(1, ofBytes(1)), { kind: 'unavailable' })
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  assert.throws(() => layouts.hold(1, ofBytes(1)), { kind: 'unavailable' })
  again[Symbol.dispose]()
  using _other = layouts.hold(1, ofBytes(1500))
  using _large = layouts.hold(2, ofBytes(9000))
  assert.throws(() => layouts.hold(2, ofBytes(1)), { kind: 'unavailable' })
  using _third = layouts.hold(3, ofBytes(100))
  assert.throws(() => layouts.hold(3, ofBytes(100)), { kind: 'unavailable' })
})
