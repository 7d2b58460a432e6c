// Tests how accounts are created, changed and deleted, on both databases.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { createTemporaryAccounts, tokenIn } from '../../../test/support/auth/temporary-accounts.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import type { AppError } from '../../base/error.ts'
import type { Mail } from '../../model/mail.ts'
import type { Store, StoreOptions } from '../../store/store.ts'
import type { RequestContext } from '../request-context.ts'
import { createLinkToken, hashLinkToken } from './account-links.ts'
import type { AccountsOptions } from './accounts-options.ts'

type OpenStore = (t: TestContext, options?: Partial<StoreOptions>) => Promise<{ store: Store }>

const context: RequestContext = { ip: '192.0.2.9', userAgent: 'test' }
const person = { firstName: 'Ada', lastName: 'Byron', password: 'hairy otters sing' }
const dayMs = 86_400_000

async function open(t: TestContext, openStore: OpenStore, changes: Partial<AccountsOptions> = {}) {
  const clock = new TestClock()
  const { store } = await openStore(t, { clock })
  const temporary = createTemporaryAccounts(store, { clock, ...changes })
  const { accounts, login, audit } = temporary
  t.after(() => audit.flush())
  const setUp = async () =>
    accounts.signUps.setUp({
      ...person,
      code: await accounts.signUps.createSetupCode(),
      email: 'ada@example.org',
      context,
    })
  const canSignIn = async (email: string, password: string) =>
    (await login.verify({ email, password, context })) !== undefined
  return { ...temporary, store, clock, setUp, canSignIn }
}

const isInvalid = (field: string) => (error: AppError) =>
  error.kind === 'invalid' && Object.keys(error.fields ?? {}).join() === field

testEachDatabase('T45: the setup code creates the first account and works once', async (t, { openStore }) => {
  const { accounts, store, clock, events, canSignIn } = await open(t, openStore)
  assert.deepEqual(await store.users.list(), [])
  assert.equal(await accounts.signUps.isSetupPending(), true)
  const first = await accounts.signUps.createSetupCode()
  const code = await accounts.signUps.createSetupCode()
  assert.match(code, /^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/)
  const input = { ...person, email: 'ada@example.org', context }
  for (const wrong of [
    '',
    'x',
    first,
    code.slice(0, -1),
    `${code}A`,
    code.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')),
  ]) {
    await assert.rejects(accounts.signUps.setUp({ ...input, code: wrong }), isInvalid('code'), wrong)
  }
  await assert.rejects(accounts.signUps.setUp({ ...input, code, password: 'short' }), isInvalid('password'))
  await assert.rejects(accounts.signUps.setUp({ ...input, code, password: 'Password123!' }), isInvalid('password'))
  await assert.rejects(accounts.signUps.setUp({ ...input, code, password: 'ada@EXAMPLE.org' }), isInvalid('password'))
  await assert.rejects(accounts.signUps.setUp({ ...input, code, email: 'ada' }), isInvalid('email'))
  await assert.rejects(accounts.signUps.setUp({ ...input, code, firstName: 'A\r\nB' }), isInvalid('first_name'))

  // Spaces, letter case and similar characters do not matter. Of two simultaneous calls, only one succeeds.
  const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `.replaceAll('0', 'o').replaceAll('1', 'l')
  const both = await Promise.allSettled([
    accounts.signUps.setUp({ ...input, code: typed }),
    accounts.signUps.setUp({ ...input, code }),
  ])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const [owner, ...others] = await store.users.list()
  assert.deepEqual([owner!.isOwner, owner!.email, others.length], [true, 'ada@example.org', 0])
  assert.equal(await canSignIn('ada@example.org', person.password), true)
  assert.equal(await accounts.signUps.isSetupPending(), false)
  assert.ok(events.some(({ event, userId }) => event === 'user.created' && userId === owner!.id))
  await assert.rejects(accounts.signUps.setUp({ ...input, code }), { kind: 'conflict' })
  await assert.rejects(accounts.signUps.setUp({ ...input, code: await accounts.signUps.createSetupCode() }), {
    kind: 'conflict',
  })
  clock.skip(8 * dayMs)
})

testEachDatabase('a setup code expires', async (t, { openStore }) => {
  const { accounts, clock, store } = await open(t, openStore)
  const code = await accounts.signUps.createSetupCode()
  clock.skip(7 * dayMs)
  await assert.rejects(accounts.signUps.setUp({ ...person, code, email: 'a@x.org' }), isInvalid('code'))
  await store.links.removeExpired()
})

testEachDatabase(
  'an invitation creates one account, for the email address that it was sent to',
  async (t, { openStore }) => {
    const { accounts, clock, setUp, takeMails, canSignIn, store } = await open(t, openStore)
    const owner = await setUp()
    const invite = () => accounts.signUps.invite({ email: 'Bob@example.org', inviterId: owner.id, context })
    await invite()
    const [mail, ...none] = await takeMails()
    assert.deepEqual([mail!.to, none.length], ['Bob@example.org', 0])
    assert.match(
      mail!.text,
      /^ada@example\.org invited you[\s\S]*\nhttps:\/\/nightjar\.example:8443\/invitation\/\?token=njln_\w{49}\n/,
    )
    const token = tokenIn(mail!)
    assert.deepEqual(await accounts.signUps.findInvitation(token), {
      email: 'Bob@example.org',
      inviterEmail: 'ada@example.org',
      camera: undefined,
      hasAccount: false,
    })
    for (const bad of ['', 'x', `${token}x`, token.replace(/.$/, '~'), token.toLowerCase()]) {
      assert.equal(await accounts.signUps.findInvitation(bad), undefined)
      await assert.rejects(accounts.signUps.acceptInvitation({ ...person, token: bad }), { kind: 'not_found' })
      assert.equal(await accounts.selfService.findReset(bad), undefined)
    }
    // A link of one kind is not valid as another kind.
    await assert.rejects(accounts.selfService.reset({ token, password: person.password }), { kind: 'not_found' })
    await assert.rejects(accounts.selfService.confirmEmail({ token, userId: 1 }), { kind: 'not_found' })

    await assert.rejects(
      accounts.signUps.acceptInvitation({ ...person, token, password: '12345678' }),
      isInvalid('password'),
    )
    const many = await Promise.allSettled(
      [1, 2, 3, 4].map(() => accounts.signUps.acceptInvitation({ ...person, token, context })),
    )
    assert.equal(many.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const result of many) {
      if (result.status === 'rejected') assert.ok(['not_found', 'conflict'].includes((result.reason as AppError).kind))
    }
    assert.equal(await canSignIn('bob@example.org', person.password), true)
    assert.equal((await store.users.findByEmail('bob@example.org'))!.isOwner, false)
    assert.equal(await accounts.signUps.findInvitation(token), undefined)

    await accounts.signUps.invite({ email: 'eve@example.org', inviterId: owner.id })
    await accounts.signUps.invite({ email: 'EVE@example.org', inviterId: owner.id })
    const [replaced, newest] = (await takeMails()).map(tokenIn)
    assert.equal(await accounts.signUps.findInvitation(replaced!), undefined)
    clock.skip(7 * dayMs - 1)
    assert.ok(await accounts.signUps.findInvitation(newest!))
    clock.skip(1)
    await assert.rejects(accounts.signUps.acceptInvitation({ ...person, token: newest! }), { kind: 'not_found' })
  },
)

testEachDatabase(
  'T45: nobody can sign up before the owner exists, and accounts of other users do not complete the set-up',
  async (t, { openStore }) => {
    const { accounts, store, setUp, takeMails } = await open(t, openStore, { signUp: 'open' })
    const bob = await store.users.insert({ ...person, email: 'bob@x.org', passwordHash: '!', isOwner: false })
    assert.equal(await accounts.signUps.isSetupPending(), true)
    await assert.rejects(accounts.signUps.requestSignUp('eve@x.org', context), { kind: 'conflict' })
    await accounts.signUps.invite({ email: 'eve@x.org', inviterId: bob.id })
    const [token] = (await takeMails()).map(tokenIn)
    await assert.rejects(accounts.signUps.acceptInvitation({ ...person, token: token! }), { kind: 'conflict' })
    const code = await accounts.signUps.createSetupCode()
    await assert.rejects(accounts.signUps.setUp({ ...person, code, email: 'BOB@x.org' }), { kind: 'conflict' })
    assert.equal((await setUp()).isOwner, true)
    assert.equal(await accounts.signUps.isSetupPending(), false)
    assert.equal((await accounts.signUps.acceptInvitation({ ...person, token: token! })).isOwner, false)
  },
)

testEachDatabase('an invitation becomes invalid when its inviter is disabled or deleted', async (t, { openStore }) => {
  const { accounts, clock, setUp, takeMails, store } = await open(t, openStore)
  await setUp()
  const bob = await accounts.signUps.add({ ...person, email: 'bob@example.org' })
  const invite = async (email: string) => {
    await accounts.signUps.invite({ email, inviterId: bob.id, context })
    return tokenIn((await takeMails())[0]!)
  }
  const isRefused = async (token: string) => {
    assert.equal(await accounts.signUps.findInvitation(token), undefined)
    await assert.rejects(accounts.signUps.acceptInvitation({ ...person, token }), { kind: 'not_found' })
  }
  const first = await invite('c@example.org')
  assert.ok(await accounts.signUps.findInvitation(first))
  await accounts.administration.change(bob.id, { isDisabled: true })
  await isRefused(first)
  // A link that was created at the moment when the inviter was disabled.
  const late = createLinkToken(randomBytes)
  const link = {
    kind: 'invitation',
    email: 'd@example.org',
    inviterId: bob.id,
    expiresAtMs: clock.nowMs() + dayMs,
  } as const
  await store.links.insert({ ...link, hash: hashLinkToken(late)! })
  await isRefused(late)
  await accounts.administration.change(bob.id, { isDisabled: false })
  await isRefused(first)
  assert.ok(await accounts.signUps.findInvitation(late), 'of somebody who may invite again')

  const second = await invite('e@example.org')
  assert.ok(await accounts.signUps.findInvitation(second))
  await accounts.administration.remove(bob.id)
  await isRefused(second)
  await isRefused(late)
})

testEachDatabase(
  'the sign-up setting decides who can create an account, also for links that were already sent',
  async (t, { openStore }) => {
    const closed = await open(t, openStore, { signUp: 'closed' })
    const owner = await closed.setUp()
    await assert.rejects(closed.accounts.signUps.invite({ email: 'b@x.org', inviterId: owner.id }), {
      kind: 'forbidden',
    })
    await assert.rejects(closed.accounts.signUps.requestSignUp('b@x.org'), { kind: 'forbidden' })
    await closed.accounts.signUps.add({ ...person, email: 'b@x.org', byUserId: owner.id })

    const invited = createTemporaryAccounts(closed.store, { clock: closed.clock, signUp: 'invitation' })
    await assert.rejects(invited.accounts.signUps.requestSignUp('c@x.org'), { kind: 'forbidden' })
    await invited.accounts.signUps.invite({ email: 'c@x.org', inviterId: owner.id })
    const open_ = createTemporaryAccounts(closed.store, { clock: closed.clock, signUp: 'open' })
    await open_.accounts.signUps.requestSignUp('d@x.org', context)
    const [toC, toD] = [(await invited.takeMails()).map(tokenIn)[0]!, (await open_.takeMails()).map(tokenIn)[0]!]
    // Links that were sent when the sign-up setting was less strict.
    assert.equal(await closed.accounts.signUps.findInvitation(toC), undefined)
    await assert.rejects(closed.accounts.signUps.acceptInvitation({ ...person, token: toC }), { kind: 'not_found' })
    await assert.rejects(invited.accounts.signUps.acceptInvitation({ ...person, token: toD }), { kind: 'not_found' })
    await open_.accounts.signUps.acceptInvitation({ ...person, token: toD })
    await invited.accounts.signUps.acceptInvitation({ ...person, token: toC })
    assert.equal((await closed.store.users.list()).length, 4)
  },
)

testEachDatabase(
  'T31: sign-up, reset and invitation respond alike for known and unknown email addresses, in the same time',
  async (t, { openStore }) => {
    const { accounts, setUp, takeMails, store } = await open(t, openStore, { signUp: 'open' })
    const owner = await setUp()
    const reads: string[] = []
    const { findByEmail } = store.users
    store.users.findByEmail = (email) => {
      reads.push(email)
      return findByEmail.call(store.users, email)
    }
    const ways = {
      reset: (email: string) => accounts.selfService.requestReset(email, context),
      signUp: (email: string) => accounts.signUps.requestSignUp(email, context),
      invite: (email: string) => accounts.signUps.invite({ email, inviterId: owner.id, context }),
    }
    for (const [name, ask] of Object.entries(ways)) {
      for (const email of ['ada@example.org', 'nobody@example.org']) {
        assert.equal(await ask(email), undefined)
        // The account is looked up only after the response.
        assert.deepEqual(reads, [], name)
        await accounts.flush()
        assert.deepEqual(reads.splice(0), [email], name)
      }
    }
    const subjects = (await takeMails()).map(({ to, subject }) => `${to}: ${subject}`)
    assert.deepEqual(subjects, [
      'ada@example.org: Reset your Nightjar password',
      'ada@example.org: You already have a Nightjar account',
      'nobody@example.org: Create your Nightjar account',
      'ada@example.org: You already have a Nightjar account',
      'nobody@example.org: Create your Nightjar account',
    ])
  },
)

testEachDatabase(
  'T31: at most 3 emails per day are sent to an address, and 20 invitations per hour by a user',
  async (t, { openStore }) => {
    const { accounts, clock, setUp, takeMails, store } = await open(t, openStore)
    const owner = await setUp()
    const other = await accounts.signUps.add({ ...person, email: 'b@x.org', byUserId: owner.id })
    for (const email of ['ada@example.org', 'nobody@example.org']) {
      for (let i = 0; i < 3; i++) await accounts.signUps.invite({ email, inviterId: owner.id })
      for (const inviterId of [owner.id, other.id]) {
        await assert.rejects(accounts.signUps.invite({ email: email.toUpperCase(), inviterId }), {
          kind: 'rate_limited',
          retryAfterSeconds: 3600,
        })
      }
    }
    assert.equal((await takeMails()).length, 6)
    for (let i = 0; i < 14; i++) await accounts.signUps.invite({ email: `guest${i}@x.org`, inviterId: owner.id })
    const more = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => accounts.signUps.invite({ email: `more${i}@x.org`, inviterId: owner.id })),
    )
    assert.ok(more.every(({ status }) => status === 'rejected'))
    await accounts.signUps.invite({ email: 'more@x.org', inviterId: other.id })
    clock.skip(3_600_000)
    await accounts.signUps.invite({ email: 'later@x.org', inviterId: owner.id })
    await takeMails()

    await store.mails.removeOld()
  },
)

testEachDatabase(
  'T31: reset links are sent at most every ten minutes, after 20 of them every fifty minutes, and excess requests get the same response',
  async (t, { openStore }) => {
    const { accounts, clock, setUp, takeMails } = await open(t, openStore)
    const { email } = await setUp()
    await takeMails()
    const ask = async (ip: string, of = email) => {
      await accounts.selfService.requestReset(of, { ...context, ip })
      return takeMails()
    }
    assert.deepEqual([(await ask('192.0.2.1')).length, (await ask('192.0.2.2')).length], [1, 0])
    clock.skip(599_999)
    assert.equal((await ask('192.0.2.3')).length, 0)
    clock.skip(1)
    let sent = 1
    let newest: Mail | undefined
    for (let i = 0; i < 19; i++) {
      const [mail] = await ask(`198.51.100.${i}`)
      if (mail) sent++
      newest = mail
      clock.skip(600_000)
    }
    assert.equal(sent, 20)
    // However many links strangers request, the newest link in the mailbox is valid.
    let more = 0
    for (let minute = 0; minute < 24 * 60; minute += 5) {
      const [mail] = await ask(`203.0.113.${minute % 200}`)
      if (mail) more++
      newest = mail ?? newest
      assert.ok(await accounts.selfService.findReset(tokenIn(newest!)), `minute ${minute}`)
      clock.skip(300_000)
    }
    assert.ok(more >= 24 && more <= 40, String(more))
    clock.skip(dayMs)
    const both = ['192.0.2.4', '192.0.2.5'].map((ip) => accounts.selfService.requestReset(email, { ...context, ip }))
    await Promise.all(both)
    assert.ok((await takeMails()).length >= 1, 'asked for twice at once, it comes')
  },
)

testEachDatabase(
  'T31: sign-ups do not count against invitations, and an IP address can request 20 per hour',
  async (t, { openStore }) => {
    const { accounts, clock, setUp, takeMails } = await open(t, openStore, { signUp: 'open' })
    const owner = await setUp()
    const limited = { kind: 'rate_limited' }
    for (let i = 0; i < 3; i++)
      await accounts.signUps.requestSignUp('friend@x.org', { ...context, ip: `198.51.100.${i}` })
    await assert.rejects(accounts.signUps.requestSignUp('friend@x.org', { ...context, ip: '198.51.100.9' }), limited)
    await accounts.signUps.invite({ email: 'friend@x.org', inviterId: owner.id, context })
    assert.equal((await takeMails()).length, 4)
    for (let i = 0; i < 20; i++) await accounts.signUps.requestSignUp(`a${i}@x.org`, context)
    await assert.rejects(accounts.signUps.requestSignUp('another@x.org', context), limited)
    await accounts.selfService.requestReset('ada@example.org', context) // counted separately
    await accounts.signUps.requestSignUp('another@x.org', { ...context, ip: '198.51.100.9' })
    clock.skip(3_600_000)
    await accounts.signUps.requestSignUp('later@x.org', context)
    assert.equal((await takeMails()).length, 23)
  },
)

testEachDatabase(
  'T31: an IP address can request 20 resets per hour, for existing and unknown accounts together',
  async (t, { openStore }) => {
    const { accounts, clock, setUp } = await open(t, openStore)
    const { email } = await setUp()
    for (let i = 0; i < 20; i++)
      await accounts.selfService.requestReset(i % 2 ? email : `nobody${i}@example.org`, context)
    for (const asked of [email, 'nobody@example.org']) {
      await assert.rejects(accounts.selfService.requestReset(asked, context), {
        kind: 'rate_limited',
        retryAfterSeconds: 180,
      })
      await accounts.selfService.requestReset(asked, { ...context, ip: '198.51.100.1' })
    }
    clock.skip(180_000)
    await accounts.selfService.requestReset(email, context)
    await accounts.flush()
  },
)

testEachDatabase('T31: line breaks in email addresses and names never reach an email', async (t, { openStore }) => {
  const { accounts, setUp, takeMails, store } = await open(t, openStore, { signUp: 'open' })
  const owner = await setUp()
  for (const email of [
    'a@x.org\r\nBcc: b@x.org',
    'a@x.org\nb@x.org',
    'a@x.org, b@x.org',
    'a@x.org;b@x.org',
    '<a@x.org>',
    'a@x.org\0',
  ]) {
    await assert.rejects(accounts.signUps.invite({ email, inviterId: owner.id }), isInvalid('email'))
    await assert.rejects(accounts.signUps.requestSignUp(email), isInvalid('email'))
    await accounts.selfService.requestReset(email, context)
    await assert.rejects(accounts.signUps.add({ ...person, email }), isInvalid('email'))
  }
  for (const name of ['A\r\nSubject: x', 'A\u2028B', 'A\0']) {
    await assert.rejects(accounts.signUps.add({ ...person, email: 'c@x.org', lastName: name }), isInvalid('last_name'))
  }
  assert.deepEqual(await takeMails(), [])
  assert.equal((await store.users.list()).length, 1)
})
