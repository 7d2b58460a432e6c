import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createNoProviders } from '../../../test/support/auth/temporary-providers.ts'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { systemClock } from '../../base/clock.ts'

test('a button works only in its browser, and carries no long path', async (t) => {
  const { store } = await openTemporaryStore(t)
  const service = createNoProviders(store, { audit: { write: () => {} }, clock: systemClock })
  const start = { purpose: 'link', path: '/account/providers/', sessionId: 's' } as const
  const sealed = service.sealStart('visit a', start)
  assert.deepEqual(service.openStart('visit a', sealed), start)
  assert.equal(service.openStart('visit b', sealed), undefined)
  assert.equal(service.openStart('visit a', `${sealed}A`), undefined)
  assert.equal(service.openStart('visit a', ''), undefined)
  // A value that was sealed for another purpose is not accepted.
  const browser = {
    owner: 'start visit a',
    owners: ['start visit a'],
    cookieHeader: undefined,
    session: undefined,
    context: { ip: '', userAgent: '' },
  }
  assert.equal(await service.openFound(browser, sealed), undefined)
  const long = service.sealStart('visit a', { ...start, path: `/${randomBytes(9000).toString('base64url')}` })
  assert.ok(long.length < 400 && service.openStart('visit a', long))
  await assert.rejects(service.begin('x', start, browser), { kind: 'not_found' })
})
