import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../base/error.ts'
import type { DownloadLayout } from './download-layout.ts'
import { DownloadLayoutCache } from './download-layout-cache.ts'

const layout: DownloadLayout = { head: new Uint8Array(), parts: [], totalBytes: 0, etag: '"x"' }

test('few layouts are created at a time, and requests are rejected when too many wait', async () => {
  const layouts = new DownloadLayoutCache()
  let making = 0
  let most = 0
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, (_, i) =>
      layouts.load(`${i}`, async () => {
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
  assert.equal(refused.length, 1 + 60 - 52)
  assert.equal(await layouts.load('1', async () => layout), layout)
})

test('requests for the same layout share the work', async () => {
  const layouts = new DownloadLayoutCache()
  let made = 0
  const create = async () => {
    made++
    return layout
  }
  await Promise.all([layouts.load('a', create), layouts.load('a', create)])
  await layouts.load('a', create)
  assert.equal(made, 1)
})
