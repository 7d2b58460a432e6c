import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { type LoginMachine, type LoginOperation, runLoginModel } from '../../../test/support/auth/login-model.ts'
import { MemoryMachine } from '../../../test/support/auth/memory-machine.ts'
import {
  addApplication,
  addUser,
  askRevoke,
  askToken,
  createTemporaryOAuth,
  readPair,
  testPassword,
} from '../../../test/support/auth/temporary-oauth.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { silentLogger } from '../../base/log.ts'
import { defaultPolicy as policy } from '../../model/oauth/policy.ts'
import type { Application } from '../../store/accounts/applications.ts'
import { Authenticator } from '../authenticator.ts'

const dayMs = 86_400_000

test('random operations on the decision functions leave one chain of tokens per login, with one valid pair at its end', async () => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(listOperations(), async (operations) => {
      count += operations.length
      await runLoginModel(new MemoryMachine(), operations, policy)
    }),
    { numRuns: 400 },
  )
  assert.ok(count >= 10_000, String(count))
})

testEachDatabase(
  'random operations on the whole system: sign in, refresh, replay, use old tokens, revoke, use another application',
  async (t, { openStore }) => {
    const clock = new TestClock()
    const { store } = await openStore(t, { clock })
    const oauth = createTemporaryOAuth(store, { clock })
    const authenticator = new Authenticator({
      tokens: store.tokens,
      grants: store.grants,
      source: store,
      clock,
      log: silentLogger,
    })
    const user = await addUser(store)
    const applications: Application[] = []
    for (const clientId of ['one', 'two'])
      applications.push(await addApplication(store, { ownerId: user.id, clientId }))
    const idOf = (application: number) => applications[application]!.clientId
    const machine: LoginMachine = {
      async logIn(application) {
        const sent = {
          grant_type: 'password',
          client_id: idOf(application),
          username: user.email,
          password: testPassword,
        }
        const pair = readPair(await askToken(oauth, sent))
        return { access: pair.access_token, refresh: pair.refresh_token }
      },
      async refresh(token, application, idempotencyKey) {
        const sent = { grant_type: 'refresh_token', client_id: idOf(application), refresh_token: token }
        const answer = await askToken(oauth, sent, idempotencyKey === undefined ? {} : { idempotencyKey })
        if (answer.status !== 200) {
          assert.deepEqual([answer.status, answer.body], [400, '{"error":"invalid_grant"}'])
          return undefined
        }
        const pair = readPair(answer)
        return { access: pair.access_token, refresh: pair.refresh_token }
      },
      async isAccepted(accessToken) {
        try {
          await authenticator.authenticate(`Bearer ${accessToken}`)
          return true
        } catch {
          return false
        }
      },
      async revoke(token, application) {
        const { status, body } = await askRevoke(oauth, { client_id: idOf(application), token })
        assert.deepEqual([status, body], [200, ''])
      },
      nowMs: () => clock.nowMs(),
      advance: (ms) => clock.skip(ms),
    }
    let count = 0
    await fc.assert(
      fc.asyncProperty(listOperations(), async (operations) => {
        count += operations.length
        await runLoginModel(machine, operations, policy)
      }),
      { numRuns: 60 },
    )
    assert.ok(count >= 1500, String(count))
  },
)

function listOperations(): fc.Arbitrary<LoginOperation[]> {
  return fc.array(loginOperation(), { minLength: 30, maxLength: 60 })
}

function loginOperation(): fc.Arbitrary<LoginOperation> {
  const login = fc.nat(3)
  const back = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(3))
  const isForeign = fc.nat(9).map((n) => n === 0)
  const key = fc.option(fc.nat(1), { nil: undefined })
  const ms = fc.oneof(
    fc.nat(3000),
    fc.constantFrom(9_999, 10_000, 59_999, 60_000, 35_999_999, 36_000_000),
    fc.nat(40 * dayMs),
  )
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('log_in'), application: fc.nat(1) }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('refresh'), login, back, isForeign, key }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('use_refresh_as_access'), login }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refresh_with_access'), login }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('revoke'), login, back, isForeign, byAccess: fc.boolean() }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance'), ms }) },
  ) as fc.Arbitrary<LoginOperation>
}
