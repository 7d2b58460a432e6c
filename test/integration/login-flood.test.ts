// Five hundred users sign in at the same moment. (How long others wait is measured with npm run bench -- auth.)

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, openServer } from '../server-under-test.ts'

const linux = { skip: process.platform !== 'linux' }

test(
  'T25: in a flood of 500 logins some succeed, the others are asked to retry later, and other requests are served',
  linux,
  async () => {
    await using server = await openServer()
    const { client_id } = await server.command<{ client_id: string }>(
      'app',
      'add',
      '--user',
      'owner@example.com',
      '--name',
      'x',
    )
    const readMegabytes = async () => {
      const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
    }
    const logIn = () =>
      server.request<{ error?: string }>('/oauth/token/', {
        method: 'POST',
        authorization: null,
        form: { grant_type: 'password', client_id, username: 'owner@example.com', password: 'correct horse' },
      })
    assert.equal((await logIn()).status, 200)
    const before = await readMegabytes()

    const startedMs = performance.now()
    const flood = Promise.all(Array.from({ length: 500 }, logIn))
    const state = { isOver: false }
    const over = flood.finally(() => {
      state.isOver = true
    })
    const others: Answer[] = []
    // An account has a limit of requests too.
    for (; !state.isOver; await sleep(10)) others.push(await server.request('/v1/me/'))
    const answers = await over

    // 300 attempts a minute are allowed; those that find no capacity are asked to retry shortly.
    const allowed = 300 * (1 + (performance.now() - startedMs) / 60_000)
    const statuses = Map.groupBy(answers, ({ status }) => status)
    assert.deepEqual(
      [...statuses.keys()].filter((status) => ![200, 429, 503].includes(status)),
      [],
    )
    assert.ok(statuses.get(200)!.length >= 50)
    assert.ok((statuses.get(429)?.length ?? 0) >= 500 - allowed - 10)
    for (const { status, headers, json } of answers) {
      if (status === 200) continue
      assert.ok(Number(headers['retry-after']) >= 1)
      assert.equal(typeof json.error, 'string')
    }
    assert.ok(others.length > 0)
    assert.deepEqual([...new Set(others.map(({ status }) => status))], [200])
    const grown = (await readMegabytes()) - before
    assert.ok(grown < 250, `${grown} MB more than before`)
    assert.equal((await server.request('/v1/me/')).status, 200)
  },
)
