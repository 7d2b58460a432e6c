import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import type { Store } from '../store.ts'

const hashOf = (text: string) => createHash('sha256').update(text).digest()
const codes = [hashOf('one'), hashOf('two')]
const app = { secret: 'a secret of the app', usedStep: 7 }
const key = (id: string) => ({ id, name: 'Phone', publicKey: randomBytes(40), counter: 3, transports: ['usb', 'nfc'] })

async function addUser({ users, sessions }: Store, email = 'ada@x') {
  const user = await users.insert({ email, firstName: '', lastName: '', passwordHash: '!', isOwner: true })
  const addSession = async (secondFactorAtMs: number | null = null) => {
    const id = randomBytes(9).toString('base64url')
    const times = {
      createdAtMs: 1,
      seenAtMs: 1,
      passwordAtMs: 1,
      secondFactorAtMs,
      secondFactor: null,
      needsSecondFactor: true,
    }
    const { credentialsVersion } = await users.get(user.id)
    const session = { id, userId: user.id, credentialsVersion, ip: '', userAgent: null, ...times }
    await sessions.insert({ ...session, hash: hashOf(id) })
    return session
  }
  const session = await addSession()
  const changer = async () => {
    const { credentialsVersion } = await users.get(user.id)
    return { userId: user.id, credentialsVersion, sessionId: session.id }
  }
  return { user, session, addSession, changer }
}

testEachDatabase(
  'the first factor brings codes and ends what was begun without; the last takes them along',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { secondFactors } = store
    const { user, session, addSession, changer } = await addUser(store)
    await addSession()
    const program = await store.applications.insert({
      ...{ clientId: 'program', ownerId: user.id, name: 'P', redirectUris: [], secretHash: null },
    })
    const { credentialsVersion } = user
    await store.grants.insertCode({
      ...{ hash: hashOf('code'), applicationId: program.id, userId: user.id, redirectUri: 'https://p/', scopes: [] },
      ...{ codeChallenge: undefined, expiresAtMs: 9e15, endsWithSession: false },
      session: { id: session.id, credentialsVersion },
    })
    const first = await secondFactors.addApp(await changer(), app, codes)
    assert.equal(await store.grants.findCode(hashOf('code')), undefined, 'consent by the password alone is gone')
    assert.equal(first.isFirst, true)
    assert.equal(first.user.hasSecondFactor, true)
    assert.equal(first.user.credentialsVersion, user.credentialsVersion + 1)
    const [left, ...others] = await store.sessions.list(user.id)
    assert.deepEqual([left!.id, left!.needsSecondFactor, others], [session.id, false, []])
    assert.ok(left!.secondFactorAtMs! > 1)
    assert.equal((await store.sessions.findByHash(hashOf(session.id)))!.hasSecondFactor, true)

    const second = await secondFactors.addPasskey(await changer(), key('k1'), [hashOf('never')])
    assert.equal(second.isFirst, false)
    const listed = await secondFactors.list(user.id)
    assert.equal(listed.recoveryCodesLeft, 2)
    assert.ok(listed.appSinceMs)
    const [passkey] = listed.passkeys
    const { id, name, counter, transports, lastUsedAtMs } = passkey!
    assert.deepEqual([id, name, counter, transports, lastUsedAtMs], ['k1', 'Phone', 3, ['usb', 'nfc'], null])

    assert.equal((await secondFactors.removeApp(await changer(), true)).hasSecondFactor, true)
    await assert.rejects(secondFactors.removeApp(await changer(), false), { kind: 'not_found' })
    await assert.rejects(secondFactors.removePasskey(await changer(), 'k1', true), { kind: 'conflict' })
    assert.equal((await secondFactors.list(user.id)).passkeys.length, 1)
    assert.equal((await secondFactors.removePasskey(await changer(), 'k1', false)).hasSecondFactor, false)
    assert.deepEqual(await secondFactors.list(user.id), { passkeys: [], appSinceMs: null, recoveryCodesLeft: 0 })
    await assert.rejects(secondFactors.replaceRecoveryCodes(await changer(), codes), { kind: 'not_found' })
  },
)

testEachDatabase(
  'who was proved before a change, or whose session has ended, changes nothing',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { secondFactors } = store
    const { user, session, changer } = await addUser(store)
    const before = await changer()
    await secondFactors.addPasskey(before, key('k1'), codes)
    const refused = { kind: 'unauthenticated' }
    await assert.rejects(secondFactors.addApp(before, app, codes), refused)
    await assert.rejects(secondFactors.removePasskey(before, 'k1', false), refused)
    await assert.rejects(secondFactors.replaceRecoveryCodes(before, codes), refused)
    await assert.rejects(store.sessions.insert({ ...session, id: 'late', hash: hashOf('late') }), refused)
    const now = await changer()
    await assert.rejects(secondFactors.removePasskey({ ...now, sessionId: 'none' }, 'k1', false), refused)
    const other = await addUser(store, 'bob@x')
    await assert.rejects(secondFactors.removePasskey({ ...now, sessionId: other.session.id }, 'k1', false), refused)
    await assert.rejects(secondFactors.removePasskey(await other.changer(), 'k1', false), { kind: 'not_found' })
    await assert.rejects(secondFactors.addPasskey(await other.changer(), key('k1'), codes.slice(0, 0)), {
      kind: 'conflict',
    })
    assert.equal((await store.users.get(other.user.id)).hasSecondFactor, false)
    assert.equal((await secondFactors.list(user.id)).passkeys.length, 1)
  },
)

testEachDatabase('at most twenty passkeys, and one app', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { changer } = await addUser(store)
  for (let i = 0; i < 20; i++) await store.secondFactors.addPasskey(await changer(), key(`k${i}`), codes)
  await assert.rejects(store.secondFactors.addPasskey(await changer(), key('k20'), codes), { kind: 'conflict' })
  await store.secondFactors.addApp(await changer(), app, codes)
  await assert.rejects(store.secondFactors.addApp(await changer(), app, codes), { kind: 'conflict' })
})

testEachDatabase('of ten at once with one code, one step or one counter, one is first', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { secondFactors } = store
  const { user, changer } = await addUser(store)
  await secondFactors.addApp(await changer(), app, codes)
  await secondFactors.addPasskey(await changer(), key('k1'), codes)
  const ten = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, work))
  const used = await ten(() => secondFactors.takeRecoveryCode(user.id, hashOf('one')))
  assert.deepEqual(
    used.filter((left) => left !== undefined),
    [1],
  )
  assert.equal(await secondFactors.takeRecoveryCode(user.id + 1, hashOf('two')), undefined)
  const steps = await ten(() => secondFactors.takeStep(user.id, 8))
  assert.equal(steps.filter(Boolean).length, 1)
  assert.equal(await secondFactors.takeStep(user.id, 7), false)
  const passkey = (await secondFactors.findPasskey('k1'))!
  const uses = await ten(() => secondFactors.notePasskeyUse(passkey, 4))
  assert.equal(uses.filter(Boolean).length, 1)
  assert.equal((await secondFactors.findPasskey('k1'))!.counter, 4)
})

testEachDatabase(
  'the secret of the app is sealed for its account; all goes with the account, or by whoever runs the server',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { secondFactors, users, accounts, settings } = store
    const ada = await addUser(store)
    const bob = await addUser(store, 'bob@x')
    for (const { changer } of [ada, bob]) await secondFactors.addApp(await changer(), app, [randomBytes(32)])
    await secondFactors.addPasskey(await bob.changer(), key('k1'), [])
    assert.equal(await secondFactors.findAppSecret(ada.user.id), app.secret)
    assert.equal(await secondFactors.findAppSecret(99), undefined)
    const { hasSecondFactor, credentialsVersion } = await secondFactors.removeAll(ada.user.id)
    assert.equal(hasSecondFactor, false)
    assert.equal(credentialsVersion, (await users.get(ada.user.id)).credentialsVersion)
    assert.equal((await secondFactors.list(ada.user.id)).recoveryCodesLeft, 0)
    await assert.rejects(secondFactors.removeAll(99), { kind: 'not_found' })
    await accounts.remove(bob.user.id, { withCameras: false })
    assert.equal(await secondFactors.hasPasskeys(), false)
    assert.equal(await settings.isSecondFactorRequired(), false)
    for (const isRequired of [true, true, false]) {
      await settings.setSecondFactorRequired(isRequired)
      assert.equal(await settings.isSecondFactorRequired(), isRequired)
    }
  },
)
