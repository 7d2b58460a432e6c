// Tests changes of passwords and email addresses, the deletion of accounts, and which credentials they end, on both
// databases.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { listTexts, readRows } from '../../../test/postgres/read-rows.ts'
import { createTemporaryAccounts, tokenIn } from '../../../test/support/auth/temporary-accounts.ts'
import {
  addApplication,
  askToken,
  createTemporaryOAuth,
  readPair,
  readRefusal,
} from '../../../test/support/auth/temporary-oauth.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { systemClock } from '../../base/clock.ts'
import type { AppError } from '../../base/error.ts'
import { silentLogger } from '../../base/log.ts'
import type { NewLink } from '../../store/accounts/links.ts'
import type { Store } from '../../store/store.ts'
import { Authenticator } from '../authenticator.ts'
import type { Login } from '../guard/login.ts'
import { checkPassword, hashPassword } from '../password.ts'
import { createPersonalToken, describePersonalToken } from '../personal-token.ts'
import { Sessions } from '../sessions/sessions.ts'
import { createLinkToken } from './account-links.ts'

type OpenStore = TestDatabase['openStore']

const context = { ip: '192.0.2.9', userAgent: 'test' }
const email = 'ada@example.org'
const password = 'hairy otters sing'
const next = 'bald eagles hum'
const person = { firstName: 'Ada', lastName: 'Byron', password }

const isInvalid = (field: string) => (error: AppError) =>
  error.kind === 'invalid' && Object.keys(error.fields ?? {}).join() === field

/** Creates an owner with every kind of credential: two browser sessions, a grant, and a personal access token. */
async function open(t: TestContext, openStore: OpenStore) {
  const clock = new TestClock(Date.now())
  const { store } = await openStore(t, { clock })
  const temporary = createTemporaryAccounts(store, { clock })
  const { accounts, login } = temporary
  t.after(() => temporary.audit.flush())
  const keeper = await accounts.signUps.add({ ...person, email: 'keeper@example.org', isOwner: true })
  const user = await accounts.signUps.add({ ...person, email })
  const oauth = createTemporaryOAuth(store, { login, clock })
  const sessions = new Sessions({ rows: store.sessions, clock, log: silentLogger })
  const { tokens, grants } = store
  const authenticator = new Authenticator({ tokens, grants, source: store, clock: systemClock, log: silentLogger })
  await addApplication(store, { ownerId: keeper.id, isConfidential: false })

  const start = async () => {
    const now = await store.users.get(user.id)
    const first = await sessions.start(now, context)
    const second = await sessions.start(now, context)
    const sent = { grant_type: 'password', client_id: 'app', username: email, password }
    const pair = readPair(await askToken(oauth, sent))
    const value = createPersonalToken(randomBytes)
    await tokens.insert({ userId: user.id, name: 'x', scopes: ['read'], ...describePersonalToken(value) })
    const isLet = async (header: string) => {
      try {
        return (await authenticator.authenticate(header)).userId === user.id
      } catch {
        return false
      }
    }
    /** Returns which still work: first session, second session, access token, refresh token, personal access token. */
    const look = async () => [
      (await sessions.find(first.cookie.split(';')[0])) !== undefined,
      (await sessions.find(second.cookie.split(';')[0])) !== undefined,
      await isLet(`Bearer ${pair.access_token}`),
      (await askToken(oauth, { grant_type: 'refresh_token', client_id: 'app', refresh_token: pair.refresh_token }))
        .status === 200,
      await isLet(`PersonalAccessToken ${value}`),
    ]
    return { first, second, look, isLet, pair, value }
  }
  const canSignIn = async (of: string, with_: string) =>
    (await login.verify({ email: of, password: with_, context })) !== undefined
  return { ...temporary, store, clock, keeper, user, oauth, sessions, start, canSignIn }
}

testEachDatabase(
  'T17: changing the password ends all other sessions and all grants at once',
  async (t, { openStore }) => {
    const { accounts, user, start, canSignIn, takeMails, events } = await open(t, openStore)
    const signedIn = await start()
    const input = {
      userId: user.id,
      password,
      proof: 'session x',
      newPassword: next,
      exceptSessionId: signedIn.first.id,
      context,
    }
    await assert.rejects(
      accounts.selfService.changePassword({ ...input, password: 'wrong one' }),
      isInvalid('password'),
    )
    await assert.rejects(
      accounts.selfService.changePassword({ ...input, newPassword: 'qwertyuiop' }),
      isInvalid('new_password'),
    )
    await assert.rejects(
      accounts.selfService.changePassword({ ...input, newPassword: 'ada@example.org' }),
      isInvalid('new_password'),
    )
    await accounts.selfService.changePassword(input)
    assert.deepEqual(await signedIn.look(), [true, false, false, false, true])
    assert.deepEqual([await canSignIn(email, password), await canSignIn(email, next)], [false, true])
    const [mail] = await takeMails()
    assert.deepEqual([mail!.to, mail!.subject], [email, 'Your Nightjar password was changed'])
    assert.ok(events.some(({ event, userId }) => event === 'password.changed' && userId === user.id))
  },
)

testEachDatabase(
  'T17: resetting the password ends all sessions and grants, and optionally personal access tokens',
  async (t, { openStore }) => {
    const { accounts, user, clock, start, canSignIn, takeMails, store } = await open(t, openStore)
    for (const revokePersonalTokens of [false, true]) {
      const signedIn = await start()
      await accounts.selfService.requestReset(' ADA@example.org', context)
      const [first] = (await takeMails()).map(tokenIn)
      clock.skip(600_000)
      await accounts.selfService.requestReset(email, context)
      const [second] = (await takeMails()).map(tokenIn)
      assert.deepEqual(await accounts.selfService.findReset(first!), { email })
      await assert.rejects(accounts.selfService.reset({ token: first!, password: 'short' }), isInvalid('password'))
      const input = { token: first!, password, revokePersonalTokens, context }
      const both = await Promise.allSettled([
        accounts.selfService.reset(input),
        accounts.selfService.reset({ ...input, token: second! }),
      ])
      assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.deepEqual(await signedIn.look(), [false, false, false, false, !revokePersonalTokens])
      assert.equal(await canSignIn(email, password), true)
      assert.equal(await accounts.selfService.findReset(second!), undefined)
      await takeMails()
      clock.skip(86_400_000)
    }
    await accounts.selfService.requestReset(email, context)
    const [late] = (await takeMails()).map(tokenIn)
    clock.skip(3_600_000)
    await assert.rejects(accounts.selfService.reset({ token: late!, password }), { kind: 'not_found' })
    await accounts.selfService.requestReset(email, context)
    const [of] = (await takeMails()).map(tokenIn)
    await accounts.administration.change(user.id, { isDisabled: true })
    assert.equal(await accounts.selfService.findReset(of!), undefined)
    await accounts.selfService.requestReset(email, context)
    assert.deepEqual(await takeMails(), [])
    assert.equal((await store.users.find(user.id))!.disabledAtMs !== null, true)
  },
)

testEachDatabase('T30: during an attack, users can still change and reset their password', async (t, { openStore }) => {
  const { accounts, user, login, takeMails, canSignIn } = await open(t, openStore)
  let tries = 0
  const attack = async () => {
    for (let i = 0; i < 200; i++) {
      const from = { ip: `198.51.${i % 100}.1`, userAgent: undefined }
      await login.verify({ email, password: `wrong horse ${tries++}`, context: from }).catch(() => {})
    }
  }
  await attack()
  await assert.rejects(canSignIn(email, password), { kind: 'rate_limited' })
  await accounts.selfService.changePassword({
    userId: user.id,
    password,
    proof: 'session x',
    newPassword: next,
    context,
  })
  await assert.rejects(canSignIn(email, next), { kind: 'rate_limited' })
  await takeMails()
  await accounts.selfService.requestReset(email, context)
  const [mail] = await takeMails()
  await accounts.selfService.reset({ token: tokenIn(mail!), password, context })
  assert.equal(await canSignIn(email, password), true)
})

testEachDatabase(
  'T17: disabling or deleting an account ends all of its access at once and permanently',
  async (t, { openStore }) => {
    const { accounts, user, keeper, start, canSignIn, store } = await open(t, openStore)
    const before = await start()
    await accounts.administration.change(user.id, { isDisabled: true }, { byUserId: keeper.id })
    assert.deepEqual(await before.look(), [false, false, false, false, false])
    assert.equal(await canSignIn(email, password), false)
    await accounts.administration.change(user.id, { isDisabled: false })
    assert.deepEqual(await before.look(), [false, false, false, false, false])
    assert.equal(await canSignIn(email, password), true)

    const again = await start()
    const source = { url: 'rtsp://h/1', username: null, password: null }
    const camera = await store.cameras.insert({ ownerId: user.id, name: 'Door', type: 'h264', ...source })
    await assert.rejects(accounts.administration.remove(user.id), { kind: 'conflict', message: /has a camera/ })
    assert.deepEqual(await again.look().then((now) => now[0]), true)
    await accounts.administration.remove(user.id, { withCameras: true })
    assert.deepEqual(await again.look(), [false, false, false, false, false])
    assert.equal(await store.cameras.find(camera.id), undefined)
    await assert.rejects(accounts.administration.remove(user.id), { kind: 'not_found' })
  },
)

testEachDatabase('T17: removing an application ends its grants', async (t, { openStore }) => {
  const { start, store } = await open(t, openStore)
  const { look } = await start()
  const [application] = await store.applications.list()
  await store.applications.remove(application!.id)
  assert.deepEqual(await look(), [true, true, false, false, true])
})

testEachDatabase('the last owner cannot be disabled, deleted or demoted', async (t, { openStore }) => {
  const { accounts, user, keeper } = await open(t, openStore)
  for (const work of [
    () => accounts.administration.change(keeper.id, { isDisabled: true }),
    () => accounts.administration.remove(keeper.id),
    () => accounts.administration.change(keeper.id, { isOwner: false }),
  ]) {
    await assert.rejects(work(), { kind: 'conflict', message: /the only owner/ })
  }
  assert.equal((await accounts.administration.change(user.id, { isOwner: true })).isOwner, true)
  const both = await Promise.allSettled([
    accounts.administration.remove(keeper.id),
    accounts.administration.remove(user.id),
  ])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

testEachDatabase('a new email address takes effect when its link is used', async (t, { openStore }) => {
  const { accounts, user, keeper, start, takeMails, canSignIn, store } = await open(t, openStore)
  const signedIn = await start()
  const input = { userId: user.id, email: 'byron@example.org', password, proof: 'session x', context }
  await assert.rejects(
    accounts.selfService.requestEmailChange({ ...input, password: 'wrong one' }),
    isInvalid('password'),
  )
  await assert.rejects(accounts.selfService.requestEmailChange({ ...input, email: 'byron' }), isInvalid('email'))
  await accounts.selfService.requestEmailChange({ ...input, email: 'keeper@example.org' })
  assert.deepEqual(await takeMails(), [])
  await accounts.selfService.requestEmailChange({ ...input, email: 'first@example.org' })
  await accounts.selfService.requestEmailChange(input)
  const [replaced, mail] = await takeMails()
  assert.equal(mail!.to, 'byron@example.org')
  assert.equal(await accounts.selfService.findEmailChange(tokenIn(replaced!)), undefined)
  assert.equal((await store.users.get(user.id)).email, email)
  await accounts.selfService.requestReset(email, context)
  const [reset] = await takeMails()
  const by = { token: tokenIn(mail!), userId: user.id, exceptSessionId: signedIn.first.id, context }
  await assert.rejects(accounts.selfService.confirmEmail({ ...by, userId: keeper.id }), { kind: 'not_found' })
  assert.equal((await accounts.selfService.confirmEmail(by)).email, 'byron@example.org')
  assert.deepEqual(await signedIn.look(), [true, false, false, false, true])
  await assert.rejects(accounts.selfService.confirmEmail(by), { kind: 'not_found' })
  assert.equal((await takeMails())[0]!.to, email)
  assert.equal(await accounts.selfService.findReset(tokenIn(reset!)), undefined)
  assert.deepEqual([await canSignIn(email, password), await canSignIn('byron@example.org', password)], [false, true])
})

testEachDatabase('a password that changes right after it was verified gives no access', async (t, { openStore }) => {
  const { login, user, clock, store } = await open(t, openStore)
  let given = password
  const verify: Login['verify'] = async (input) => {
    const found = await login.verify(input)
    if (found) await store.accounts.change(user.id, { passwordHash: await hashPassword((given += '!')) })
    return found
  }
  const oauth = createTemporaryOAuth(store, { login: { verify }, clock })
  const sent = { grant_type: 'password', client_id: 'app', username: email, password: given }
  assert.deepEqual(readRefusal(await askToken(oauth, sent)), [400, 'invalid_grant', 'Invalid credentials given.'])
  assert.deepEqual(await store.grants.list(user.id), [])

  const other = createTemporaryAccounts(store, { clock, login: { verify, forgive: async () => {} } })
  t.after(() => other.audit.flush())
  const input = { userId: user.id, password: given, proof: 'session x', newPassword: next, context }
  await assert.rejects(other.accounts.selfService.changePassword(input), isInvalid('password'))
  await other.accounts.selfService.requestEmailChange({
    userId: user.id,
    email: 'byron@example.org',
    password: given,
    proof: 'session x',
    context,
  })
  assert.deepEqual(await other.takeMails(), [], 'no link for whoever knew the old password')
})

testEachDatabase(
  'a reset link becomes invalid when the email address of the account changes',
  async (t, { openStore }) => {
    const { user, clock, store } = await open(t, openStore)
    // The owner of the server changes the email address at the moment when the link is created.
    const links = {
      insert: async (link: NewLink) => {
        await store.accounts.change(user.id, { email: 'byron@example.org' })
        await store.links.insert(link)
      },
      find: store.links.find.bind(store.links),
      removeExpired: store.links.removeExpired.bind(store.links),
    }
    const { users, cameras, guests, accounts: changes, identities, mails, transaction } = store
    const { accounts, takeMails, audit } = createTemporaryAccounts(store, {
      clock,
      store: {
        users,
        cameras,
        guests,
        accounts: changes,
        identities,
        mails,
        transaction,
        links: links as Store['links'],
      },
    })
    t.after(() => audit.flush())
    await accounts.selfService.requestReset(email, context)
    assert.deepEqual(await takeMails(), [])
    assert.equal((await store.users.get(user.id)).email, 'byron@example.org')
  },
)

testEachDatabase(
  'T23: the database contains no links, setup codes, cookies or passwords in clear',
  async (t, { openStore }) => {
    let database = ''
    const { accounts, user, keeper, start, takeMails } = await open(t, async (...args) => {
      const opened = await openStore(...args)
      database = opened.database
      return opened
    })
    const { first } = await start()
    await accounts.selfService.requestReset(email, context)
    await accounts.signUps.invite({ email: 'new@example.org', inviterId: keeper.id, context })
    await accounts.selfService.requestEmailChange({
      userId: user.id,
      email: 'byron@example.org',
      password,
      proof: 'session x',
      context,
    })
    const mails = await takeMails()
    const code = await accounts.signUps.createSetupCode()
    const secrets = [...mails.map(tokenIn), code, code.replaceAll('-', ''), first.cookie.split(/[=;]/)[1]!, password]
    assert.equal(secrets.length, 7)
    const texts = listTexts(await readRows(database))
    assert.ok(texts.includes(email), 'the rows are searched')
    for (const secret of secrets.flatMap((one) => [one, one.slice(6, 24), Buffer.from(one).toString('base64')])) {
      assert.ok(secret.length > 7 && !texts.some((text) => text.includes(secret)), secret)
    }
  },
)

testEachDatabase('changes to an account succeed even if the email queue is full', async (t, { openStore }) => {
  const { accounts, user, keeper, events, takeMails, canSignIn } = await open(t, openStore)
  for (let i = 0; i < 1000; i++) await accounts.selfService.requestReset(`nobody${i}@example.org`)
  await assert.rejects(accounts.selfService.requestReset(email), { kind: 'unavailable' })
  await assert.rejects(accounts.signUps.invite({ email: 'new@example.org', inviterId: keeper.id }), {
    kind: 'unavailable',
  })
  await accounts.selfService.changePassword({
    userId: user.id,
    password,
    proof: 'session x',
    newPassword: next,
    context,
  })
  await accounts.administration.change(
    user.id,
    { newPassword: password, email: 'byron@example.org' },
    { byUserId: keeper.id },
  )
  assert.equal(await canSignIn('byron@example.org', password), true)
  const noted = events.filter(({ event }) => /^(password|email)\.changed$/.test(event)).map(({ event }) => event)
  assert.deepEqual(noted, ['password.changed', 'password.changed', 'email.changed'])
  await takeMails()
})

testEachDatabase('the user is notified when a refresh token is used twice', async (t, { openStore }) => {
  const { accounts, user, takeMails } = await open(t, openStore)
  accounts.notices.reuse({ userId: user.id, appName: 'Door\r\nbell', context })
  const [mail] = await takeMails()
  assert.equal(mail!.to, email)
  assert.match(mail!.text, /application "Door {2}bell"[\s\S]*192\.0\.2\.9/)
})

test('T24: links have a prefix, 256 random bits and a checksum', () => {
  const tokens = Array.from({ length: 1000 }, () => createLinkToken(randomBytes))
  assert.ok(tokens.every((token) => /^njln_[0-9A-Za-z]{49}$/.test(token)))
  assert.equal(new Set(tokens).size, tokens.length)
})

test('a password that is easy to guess is rejected with a hint', async () => {
  const easy = `password Password1 p@ssw0rd! 12345678 123456789 1234567890 87654321 qwertyuiop 1q2w3e4r 1qaz2wsx asdfghjkl
    abcdefgh 11111111 abcabcabc 12121212 iloveyou1 letmein123 Welcome2024 admin1234 sunshine! football99 dragon2000 monkey123 19841231
    31121984 changeme superman123 trustno1! hunter2000 nightjar1 Nightjar2026 cameras123 passwort1 azertyuiop qwertz123 monkeymonkey
    $unshine princess_1 starwars.77 987654321 qazwsxedc zaq1zaq1 aaaaaaaaaa`
  for (const text of [...easy.split(/\s+/), 'x'.repeat(64)]) {
    await assert.rejects(
      checkPassword(text),
      { kind: 'invalid', message: /too easy to guess\. Use a longer one/ },
      text,
    )
  }
  for (const text of ['ada.lovelace', 'Ada.Lovelace1', 'ada.lovelace@x.org1']) {
    await assert.rejects(checkPassword(text, ['ada.lovelace@x.org']), { kind: 'invalid' }, text)
  }
  const hard = [
    'hairy otters sing',
    'correct horse',
    'tz4-kk09qx',
    'mein hund bellt',
    'catalogue 7391846',
    'パスワードは秘密です',
  ]
  for (const text of hard) await checkPassword(text, ['ada.lovelace@x.org'])
})
