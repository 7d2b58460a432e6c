import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { systemClock } from '../../base/clock.ts'
import { html } from './html.ts'
import type { PageAnswer } from './page.ts'
import { RepeatedRequests } from './repeated-requests.ts'

const cookie = '__Host-session=ada'
const form = ['/account/', 'form_id=1']

/** Two servers of one database. */
async function openTwo(t: TestContext) {
  const { store } = await openTemporaryStore(t)
  const shared = { rows: store.keptValues, key: randomBytes(32) }
  const create = () => new RepeatedRequests({ clock: systemClock, shared })
  return { first: create(), second: create(), rows: store.keptValues }
}

const page = (status = 200): PageAnswer => ({
  kind: 'page',
  status,
  title: 'Codes',
  content: html`<p>${'1 < 2'}</p>`,
  cookies: ['a=b'],
})

test('a form that comes to two servers is answered once', async (t) => {
  const { first, second } = await openTwo(t)
  const answered = Promise.withResolvers<PageAnswer>()
  let times = 0
  const respond = () => {
    times++
    return answered.promise
  }
  const both = [first, second].map((server) => server.answer(form, cookie, respond))
  setTimeout(() => answered.resolve(page()), 100)
  for (const answer of await Promise.all(both)) {
    assert.ok(answer.kind === 'page')
    assert.deepEqual([String(answer.content), answer.cookies], ['<p>1 &lt; 2</p>', ['a=b']])
  }
  assert.equal(times, 1)
  await second.answer(['/account/', 'form_id=2'], cookie, respond)
  await second.answer(form, '__Host-session=eve', respond)
  assert.equal(times, 3, 'another form, and another browser')
})

test('an error, and a server that died, are not the answer of another server', async (t) => {
  const { first, second, rows } = await openTwo(t)
  await first.answer(form, cookie, async () => page(400))
  await assert.rejects(first.answer(form, cookie, () => Promise.reject(new Error('the database is away'))))
  assert.ok((await second.answer(form, cookie, async () => page())).kind === 'page')
  // Claimed by one that answers no more.
  const other = ['/account/', 'form_id=3']
  const { claim } = rows
  rows.claim = async (name, nowMs) => claim.call(rows, name, nowMs, nowMs + 200)
  void first.answer(other, cookie, () => new Promise(() => {}))
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok((await second.answer(other, cookie, async () => page())).kind === 'page')
})

test('an answer that other servers cannot be told reaches its browser', async (t) => {
  const { first, rows } = await openTwo(t)
  rows.put = () => Promise.reject(new Error('the database is away'))
  assert.ok((await first.answer(form, cookie, async () => page())).kind === 'page')
})
