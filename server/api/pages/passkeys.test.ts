// Passkeys as browsers send them, and as nobody should.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addPasskey, ownPath, readCodes, readOptions, sendPasskey } from '../../../test/page-second-factors.ts'
import { SoftwareAuthenticator } from '../../../test/software-authenticator.ts'
import { publicUrl } from '../../../test/support/api/temporary-api.ts'
import { openTemporaryPages, type TestBrowser } from '../../../test/support/api/temporary-pages.ts'
import { systemClock } from '../../base/clock.ts'

const isSignedIn = (browser: TestBrowser) => browser.cookies.has('__Host-session')

/** Ada, with a passkey, signed in. */
async function openWithPasskey(t: TestContext) {
  let aheadMs = 0
  const pass = (ms: number) => {
    aheadMs += ms
  }
  const pages = await openTemporaryPages(t, {
    clock: {
      ...systemClock,
      nowMs: () => Date.now() + aheadMs,
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    },
  })
  const user = await pages.addPerson()
  const home = pages.openBrowser()
  await home.signIn()
  const key = await addPasskey(home)
  const codes = readCodes(home.shown!.text)
  /** A browser after the password. */
  const openSecondStep = async (email?: string) => {
    const browser = pages.openBrowser()
    await browser.signIn(email)
    return browser
  }
  const openSignIn = async () => {
    const browser = pages.openBrowser()
    await browser.open('/sign-in/')
    return browser
  }
  return { pages, user, home, key, codes, pass, openSecondStep, openSignIn }
}

test('a passkey is the first factor, and the second step; its use is noted', async (t) => {
  const { pages, user, key, codes, openSecondStep } = await openWithPasskey(t)
  assert.equal(codes.length, 10)
  const browser = await openSecondStep()
  const options = readOptions(browser)
  assert.equal(options.rpId, new URL(publicUrl).hostname)
  assert.deepEqual(
    options.allowCredentials.map(({ id }: { id: string }) => id),
    [key.id.toString('base64url')],
  )
  // Touched is enough where the password was given.
  await sendPasskey(browser, key.get(options, { isVerified: false }))
  assert.equal(isSignedIn(browser), true)
  const [passkey] = (await pages.store.secondFactors.list(user.id)).passkeys
  assert.deepEqual([passkey!.name, passkey!.counter, passkey!.lastUsedAtMs !== null], ['Key', 1, true])
})

test('a passkey alone signs in when its user was verified, and not as the password', async (t) => {
  const { key, openSignIn } = await openWithPasskey(t)
  const browser = await openSignIn()
  const options = readOptions(browser)
  assert.deepEqual([options.allowCredentials, options.userVerification], [[], 'required'])
  await sendPasskey(browser, key.get(options, { isVerified: false }))
  assert.equal(browser.shown!.status, 400)
  assert.equal(isSignedIn(browser), false)
  await sendPasskey(browser, key.get(readOptions(browser)))
  assert.equal(browser.shown!.url, '/account/')
  assert.match((await browser.open('/account/tokens/')).url, /^\/confirm\//)
  assert.match((await browser.open(ownPath)).url, /^\/confirm\//)
})

test('an answer is good once, in the browser that was asked, for what it was asked for, within five minutes', async (t) => {
  const { key, pass, openSecondStep, openSignIn } = await openWithPasskey(t)
  const [first, second, alone] = [await openSecondStep(), await openSecondStep(), await openSignIn()]
  const refused = async (browser: TestBrowser, answer: string) => {
    await sendPasskey(browser, answer)
    assert.equal(isSignedIn(browser), false)
    assert.equal(browser.shown!.status, 400)
  }
  await refused(second, key.get(readOptions(first)))
  await refused(second, key.get(readOptions(alone)))
  await refused(alone, key.get(readOptions(second)))
  const late = key.get(readOptions(second))
  pass(5 * 60_000)
  await refused(second, late)
  await refused(await openSignIn(), key.get(readOptions(alone)))
  const good = await openSecondStep()
  const page = good.shown!
  const answer = key.get(readOptions(good))
  await sendPasskey(good, answer)
  assert.equal(isSignedIn(good), true)
  const again = await openSignIn()
  const options = readOptions(again)
  const used = key.get(options)
  await sendPasskey(again, used)
  assert.equal(isSignedIn(again), true)
  for (const [browser, sent] of [
    [good, answer],
    [again, used],
  ] as const) {
    pass(10_000)
    browser.cookies.delete('__Host-session')
    if (browser === good) browser.shown = page
    else await browser.open('/sign-in/')
    await sendPasskey(browser, sent)
    assert.equal(isSignedIn(browser), false)
  }
})

test('a certificate that nobody asked for does not matter, as of Windows Hello', async (t) => {
  const { pages, user, home, openSignIn } = await openWithPasskey(t)
  const key = new SoftwareAuthenticator(publicUrl)
  await home.open(ownPath)
  await sendPasskey(home, key.create(readOptions(home), { hasCertificate: true }), { name: 'Hello' })
  assert.equal((await pages.store.secondFactors.list(user.id)).passkeys.length, 2)
  const browser = await openSignIn()
  await sendPasskey(browser, key.get(readOptions(browser)))
  assert.equal(isSignedIn(browser), true)
})

test('one answer that is sent ten times at once begins one session', async (t) => {
  const { pages, user, key, openSignIn } = await openWithPasskey(t)
  const browser = await openSignIn()
  const answer = key.get(readOptions(browser))
  const copies = Array.from({ length: 10 }, () => sendPasskey(browser, answer))
  const shown = await Promise.all(copies)
  assert.ok(shown.every(({ status }) => status === 200))
  assert.equal((await pages.deps.sessions.list(user.id)).length, 2, 'one more, with the same cookie')
})

test('another origin, another server’s name, another kind, another handle, a changed byte: refused', async (t) => {
  const { key, openSecondStep, openSignIn } = await openWithPasskey(t)
  const step = await openSecondStep()
  const alone = await openSignIn()
  for (const deviation of [
    { origin: 'https://nightjar.example' },
    { origin: 'https://evil.example:8443' },
    { origin: 'http://nightjar.example:8443' },
    { rpId: 'example' },
    { type: 'webauthn.create' },
    { challenge: '' },
    { challenge: 'AAAA' },
    { crossOrigin: true },
  ]) {
    for (const browser of [step, alone]) {
      await sendPasskey(browser, key.get(readOptions(browser), deviation))
      assert.equal(browser.shown!.status, 400, JSON.stringify(deviation))
    }
  }
  for (const userHandle of ['', 'AAAA', Buffer.alloc(32).toString('base64url')]) {
    await sendPasskey(alone, key.get(readOptions(alone), { userHandle }))
    assert.equal(alone.shown!.status, 400)
  }
  const answer = JSON.parse(key.get(readOptions(step)))
  const bytes = Buffer.from(answer.response.authenticatorData, 'base64url')
  bytes[36]! ^= 1
  answer.response.authenticatorData = bytes.toString('base64url')
  await sendPasskey(step, JSON.stringify(answer))
  assert.equal(step.shown!.status, 400)
  for (const garbage of [
    'x',
    '{}',
    '[]',
    'null',
    '""',
    '{"id":1}',
    '{"id":"x","response":null}',
    '{"id":"x","response":[]}',
  ]) {
    for (const browser of [step, alone]) {
      await sendPasskey(browser, garbage)
      assert.equal(browser.shown!.status, 400, garbage)
    }
  }
  for (const browser of [step, alone]) assert.equal(isSignedIn(browser), false)
})

test('a passkey of somebody else’s opens neither the second step nor another account', async (t) => {
  const { pages, key, openSecondStep, openSignIn } = await openWithPasskey(t)
  await pages.addPerson('bob@example.org')
  const bob = pages.openBrowser()
  await bob.signIn('bob@example.org')
  const bobsKey = await addPasskey(bob)
  const step = await openSecondStep()
  await sendPasskey(step, bobsKey.get(readOptions(step)))
  assert.equal(isSignedIn(step), false)
  // Bob's signature under the name of Ada's passkey.
  const forged = JSON.parse(bobsKey.get(readOptions(step)))
  forged.id = key.id.toString('base64url')
  forged.rawId = forged.id
  await sendPasskey(step, JSON.stringify(forged))
  assert.equal(isSignedIn(step), false)
  const alone = await openSignIn()
  await sendPasskey(alone, bobsKey.get(readOptions(alone)))
  assert.match(alone.shown!.text, /bob@example\.org/)
})

test('a counter that does not grow is a copy: refused and recorded', async (t) => {
  const { pages, key, openSecondStep } = await openWithPasskey(t)
  const sendCount = async (counter: number) => {
    const browser = await openSecondStep()
    await sendPasskey(browser, key.get(readOptions(browser), { counter }))
    return isSignedIn(browser)
  }
  assert.equal(await sendCount(0), true)
  assert.equal(await sendCount(0), true)
  assert.equal(await sendCount(7), true)
  for (const counter of [7, 6, 0]) assert.equal(await sendCount(counter), false)
  assert.equal(await sendCount(8), true)
  const rows = await pages.audit.list(undefined, { limit: 50, offset: 0 })
  assert.equal(rows.filter(({ detail }) => detail.reason === 'copied').length, 3)
})

test('what is added answers a question of this session, once, and is nobody’s yet', async (t) => {
  const { pages, home, key, pass } = await openWithPasskey(t)
  await pages.addPerson('bob@example.org')
  const bob = pages.openBrowser()
  await bob.signIn('bob@example.org')
  await bob.open(ownPath)
  await home.open(ownPath)
  const other = new SoftwareAuthenticator(publicUrl)
  const refused = async (answer: string, status: number) => {
    await sendPasskey(bob, answer)
    assert.equal(bob.shown!.status, status)
  }
  await refused(other.create(readOptions(home)), 400)
  await refused(other.create(readOptions(bob), { origin: 'https://evil.example' }), 400)
  await refused(other.create(readOptions(bob), { rpId: 'evil.example' }), 400)
  await refused(other.create(readOptions(bob), { crossOrigin: true }), 400)
  await refused(key.create(readOptions(bob)), 409)
  const answer = other.create(readOptions(bob))
  await sendPasskey(bob, answer)
  assert.equal(readCodes(bob.shown!.text).length, 10)
  await bob.open(ownPath)
  pass(10_000)
  await refused(answer, 400)
  assert.equal((await pages.store.secondFactors.list(2)).passkeys.length, 1)
})

test('a passkey of a disabled account signs nobody in', async (t) => {
  const { pages, user, key, openSignIn } = await openWithPasskey(t)
  const keeper = await pages.addPerson('keeper@example.org')
  await pages.store.accounts.change(keeper.id, { isOwner: true })
  await pages.store.accounts.change(user.id, { isDisabled: true })
  const browser = await openSignIn()
  await sendPasskey(browser, key.get(readOptions(browser)))
  assert.equal(browser.shown!.status, 400)
  assert.equal(isSignedIn(browser), false)
})
