import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import type { NewAuditRecord } from '../../store/accounts/audit.ts'
import { Audit } from './audit.ts'

const page = { limit: 1000, offset: 0 }

test('T44: events are stored in order with all their fields', async (t) => {
  const { store } = await openTemporaryStore(t)
  const version = store.version
  const clock = new TestClock()
  const audit = new Audit({ rows: store.audit, clock, log: silentLogger })
  const context = { ip: '192.0.2.7', userAgent: `Test\n\0${'x'.repeat(1000)}` }
  audit.write({ event: 'login.ok', userId: 7, subject: 'a@example.com', context, detail: { via: 'page', tries: 2 } })
  clock.skip(1000)
  audit.write({ event: 'app.changed' })
  const [second, first] = await audit.list(undefined, page)
  assert.deepEqual(first, {
    id: 1,
    atMs: Date.UTC(2030, 0, 1),
    event: 'login.ok',
    userId: 7,
    subject: 'a@example.com',
    ip: '192.0.2.7',
    userAgent: `Test  ${'x'.repeat(250)}`,
    detail: { via: 'page', tries: 2 },
  })
  assert.deepEqual([second!.event, second!.userId, second!.ip, second!.detail], ['app.changed', null, null, {}])
  assert.equal(second!.atMs - first!.atMs, 1000)
  assert.deepEqual(await audit.list(7, page), [first])
  assert.deepEqual(await audit.list(8, page), [])
  assert.deepEqual([await audit.count(), await audit.count(7)], [2, 1])
  assert.deepEqual(
    (await audit.list(undefined, { limit: 1, offset: 1 })).map(({ event }) => event),
    ['login.ok'],
  )
  assert.equal(store.version, version)
})

test('while the store fails, callers do not wait, and a limited number of events is kept', async () => {
  const rows: NewAuditRecord[] = []
  let isBroken = true
  const store = {
    async insert(records: readonly NewAuditRecord[]) {
      if (isBroken) throw new Error('disk full')
      rows.push(...records)
    },
    list: async () => [],
    count: async () => 0,
    removeOld: async () => {},
  }
  const stopping = new AbortController()
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(1, signal) }
  const audit = new Audit({ rows: store as never, clock, log: silentLogger })
  const running = audit.run(stopping.signal)
  for (let i = 0; i < 10_050; i++) audit.write({ event: `e${i}` })
  await audit.flush()
  assert.equal(rows.length, 0)
  isBroken = false
  while (rows.length < 10_001) await systemClock.sleep(5)
  assert.deepEqual(
    rows.slice(0, 10_000).map(({ event }) => event),
    Array.from({ length: 10_000 }, (_, i) => `e${i}`),
  )
  assert.deepEqual([rows.at(-1)!.event, rows.at(-1)!.detail], ['audit.dropped', { events: 50 }])
  audit.write({ event: 'last' })
  stopping.abort()
  await running
  assert.equal(rows.at(-1)!.event, 'last')
})

test('old events and events beyond the maximum number are removed', async (t) => {
  const { store } = await openTemporaryStore(t)
  const clock = new TestClock()
  const audit = new Audit({ rows: store.audit, clock, log: silentLogger, retentionDays: 10, maxRows: 5 })
  for (let day = 0; day < 20; day++) {
    audit.write({ event: `day${day}` })
    clock.skip(86_400_000)
  }
  await audit.flush()
  const stopping = new AbortController()
  const running = audit.run(stopping.signal)
  await systemClock.sleep(50)
  stopping.abort()
  await running
  const events = (await audit.list(undefined, page)).map(({ event }) => event)
  assert.deepEqual(events, ['day19', 'day18', 'day17', 'day16', 'day15'])
  await store.audit.removeOld(clock.nowMs(), 5)
  assert.equal(await audit.count(), 0)
})
