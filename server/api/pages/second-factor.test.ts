// The second step of signing in, and the ways round it that there must not be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addApp,
  addPasskey,
  appPath,
  codeAt,
  ownPath,
  readCodes,
  readOptions,
  readSecret,
  sendPasskey,
} from '../../../test/page-second-factors.ts'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import {
  openTemporaryPages,
  password,
  readForms,
  type TemporaryPages,
  type TestBrowser,
} from '../../../test/support/api/temporary-pages.ts'
import { systemClock } from '../../base/clock.ts'

function createClock() {
  let aheadMs = 0
  const startMs = 1_800_000_000_000
  const clock = {
    ...systemClock,
    nowMs: () => startMs + aheadMs,
    monotonicMs: () => aheadMs,
    pass: (ms: number) => {
      aheadMs += ms
    },
  }
  return clock
}

type Options = Parameters<typeof openTemporaryPages>[1]

/** Ada, with an authenticator app, signed in. */
async function openWithApp(t: Parameters<typeof openTemporaryPages>[0], options: Options = {}) {
  const clock = createClock()
  const pages = await openTemporaryPages(t, { ...options, clock })
  const user = await pages.addPerson()
  const home = pages.openBrowser()
  await home.signIn()
  const app = await addApp(home, clock.nowMs())
  clock.pass(30_000)
  const code = () => codeAt(app.secret, clock.nowMs())
  return { pages, clock, user, home, ...app, code }
}

const isSignedIn = (browser: TestBrowser) => browser.cookies.has('__Host-session')
const events = async ({ audit }: TemporaryPages) =>
  (await audit.list(undefined, { limit: 100, offset: 0 })).map(({ event }) => event)

test('an app is set up with its first code, brings ten recovery codes, and signs out the browsers of the password alone', async (t) => {
  const clock = createClock()
  const pages = await openTemporaryPages(t, { clock })
  const { id } = await pages.addPerson()
  const [home, other] = [pages.openBrowser(), pages.openBrowser()]
  for (const browser of [home, other]) await browser.signIn()
  await home.open(appPath)
  const secret = readSecret(home.shown!.text)
  assert.equal(secret.length, 20)
  assert.match(home.shown!.text, /<svg class="qr-code" viewBox="0 0 \d+ \d+"/)
  await home.submit({ code: '000000' }, appPath)
  assert.equal(home.shown!.status, 400)
  assert.match(home.shown!.text, /The code is incorrect/)
  assert.deepEqual(readSecret(home.shown!.text), secret)
  assert.equal((await pages.store.users.get(id)).hasSecondFactor, false)
  const device = home.cookies.get('__Host-device')
  await home.submit({ code: codeAt(secret, clock.nowMs()).replace(/(...)/, '$1 ') }, appPath)
  const codes = readCodes(home.shown!.text)
  assert.equal(new Set(codes).size, 10)
  const [, file] = /download="[^"]+" href="data:text\/plain;charset=utf-8,([^"]+)"/.exec(home.shown!.text)!
  assert.deepEqual(decodeURIComponent(file!).trimEnd().split('\n'), codes)
  assert.notEqual(home.cookies.get('__Host-device'), device)
  assert.equal((await other.open('/account/')).url.startsWith('/sign-in/'), true)
  assert.equal((await home.open('/account/')).url, '/account/')
  await pages.accounts.flush()
  assert.match(pages.mails.at(-1)!.text, /authenticator app was added .*192\.0\.2\.7/)
  assert.ok((await events(pages)).includes('second_factor.app_added'))
  // Not shown again.
  await home.open(ownPath)
  assert.match(home.shown!.text, /You have 10 codes left/)
  assert.deepEqual(readCodes(home.shown!.text), [])
})

test('the password alone opens nothing, and there is nothing to skip to', async (t) => {
  const { pages, code } = await openWithApp(t)
  const browser = pages.openBrowser()
  await browser.signIn()
  assert.match(browser.shown!.url, /^\/second-factor\/\?step=/)
  assert.match(browser.shown!.text, /ada@example\.org/)
  assert.equal(isSignedIn(browser), false)
  for (const path of [
    '/account/',
    '/account/tokens/',
    ownPath,
    appPath,
    '/confirm/',
    '/account/password/',
    '/email/',
  ]) {
    assert.match((await browser.open(path)).url, /^\/sign-in\//, path)
  }
  assert.match((await browser.open('/second-factor/')).url, /^\/sign-in\/\?done=late/)
  await browser.signIn()
  for (const wrong of ['', '000000', code().slice(1), `${code()}1`, 'ZZZZZ-ZZZZZ-ZZZZZ-ZZZZZ']) {
    await browser.submit({ code: wrong })
    assert.equal(browser.shown!.status, 400)
    assert.equal(isSignedIn(browser), false)
    if (wrong === code().slice(1)) break
  }
  const { url } = browser.shown!
  // A double click on a slow line: the browser shows only the second answer. The keyboard is Arabic.
  const { action, fields } = readForms(browser.shown!.text).find((form) => form.action === '/second-factor/')!
  const typed = code().replaceAll(/\d/g, (digit) => String.fromCharCode(0x0660 + Number(digit)))
  const twice = await Promise.all([1, 2].map(() => browser.send(action, { ...fields, code: typed })))
  assert.deepEqual(twice.map((shown) => shown.url), ['/account/', '/account/']) // biome-ignore format: one line
  assert.equal(isSignedIn(browser), true)
  assert.match(url, /second-factor/)
})

test('a code is good once, in whatever browser; so is what is pending', async (t) => {
  const { pages, clock, code } = await openWithApp(t)
  const [first, second] = [pages.openBrowser(), pages.openBrowser()]
  for (const browser of [first, second]) await browser.signIn()
  const [form] = readForms(first.shown!.text)
  const used = code()
  await first.submit({ code: used })
  assert.equal(isSignedIn(first), true)
  await second.submit({ code: used })
  assert.equal(second.shown!.status, 400)
  assert.match(second.shown!.text, /has already been used/)
  // The page that is behind the back button.
  first.cookies.delete('__Host-session')
  clock.pass(30_000)
  await first.send('/second-factor/', { ...form!.fields, code: code() })
  assert.match(first.shown!.url, /^\/sign-in\/\?done=late/)
  assert.equal(isSignedIn(first), false)
})

test('what is pending belongs to one browser and one account, and ends after ten minutes', async (t) => {
  const { pages, clock, code } = await openWithApp(t)
  await pages.addPerson('bob@example.org')
  const bobAtHome = pages.openBrowser()
  await bobAtHome.signIn('bob@example.org')
  const bobs = await addApp(bobAtHome, clock.nowMs())
  clock.pass(30_000)
  const [ada, bob] = [pages.openBrowser(), pages.openBrowser()]
  await ada.signIn()
  await bob.signIn('bob@example.org')
  const adas = readForms(ada.shown!.text)[0]!.fields
  await bob.submit({ step: adas.step!, code: codeAt(bobs.secret, clock.nowMs()) })
  assert.equal(isSignedIn(bob), false)
  assert.match(bob.shown!.url, /done=late/)
  // The right browser, and the code or the recovery code of somebody else.
  for (const foreign of [codeAt(bobs.secret, clock.nowMs()), bobs.recoveryCodes[0]!]) {
    await ada.submit({ code: foreign })
    assert.equal(ada.shown!.status, 400)
  }
  clock.pass(10 * 60_000)
  await ada.submit({ code: code() })
  assert.equal(isSignedIn(ada), false)
  assert.match(ada.shown!.url, /done=late/)
})

test('a change of the account between the steps lets nobody in', async (t) => {
  const { pages, clock, user, home, code } = await openWithApp(t)
  const thief = pages.openBrowser()
  await thief.signIn()
  await home.open('/account/password/')
  await home.submit({ password, new_password: 'green owls sing late' })
  assert.equal(home.shown!.url, '/account/?done=password')
  await thief.submit({ code: code() })
  assert.equal(isSignedIn(thief), false)
  assert.equal((await pages.deps.sessions.list(user.id)).length, 1)
  clock.pass(30_000)
  await thief.open('/sign-in/')
  await thief.submit({ email: user.email, password: 'green owls sing late' })
  await pages.store.accounts.change((await pages.addPerson('keeper@x.example')).id, { isOwner: true })
  await pages.store.accounts.change(user.id, { isDisabled: true })
  await thief.submit({ code: code() })
  assert.equal(isSignedIn(thief), false)
})

testEachDatabase('of ten that send one recovery code at once, one gets in', async (t, { openStore }) => {
  const { pages, recoveryCodes } = await openWithApp(t, { openStore })
  const browsers = Array.from({ length: 10 }, (_, i) => pages.openBrowser({ ip: `192.0.2.${100 + i}` }))
  for (const browser of browsers) await browser.signIn()
  const [code] = recoveryCodes
  await Promise.all(browsers.map((browser) => browser.submit({ code: code!.toLowerCase().replaceAll('-', ' ') })))
  assert.equal(browsers.filter(isSignedIn).length, 1)
  await pages.accounts.flush()
  assert.equal(pages.mails.filter(({ text }) => /codes left: 9\./.test(text)).length, 1)
})

test('T30: five wrong codes are free, then right ones wait too; a right password forgives none of them', async (t) => {
  const { pages, clock, recoveryCodes, code } = await openWithApp(t)
  const browser = pages.openBrowser({ ip: '192.0.2.50' })
  for (let i = 0; i < 5; i++) {
    await browser.signIn()
    await browser.submit({ code: '000000' })
    assert.equal(browser.shown!.status, 400)
  }
  await browser.signIn()
  for (const locked of [code(), recoveryCodes[0]!]) {
    await browser.submit({ code: locked })
    assert.equal(browser.shown!.status, 429)
    assert.ok(Number(browser.shown!.headers['retry-after']) > 0)
    assert.equal(isSignedIn(browser), false)
  }
  await pages.accounts.flush()
  assert.equal(pages.mails.filter(({ subject }) => /may know the password/.test(subject)).length, 1)
  // From elsewhere its user gets in at that moment.
  const user = pages.openBrowser()
  await user.signIn()
  await user.submit({ code: code() })
  assert.equal(isSignedIn(user), true)
  clock.pass(1000)
  await browser.submit({ code: recoveryCodes[0]! })
  assert.equal(isSignedIn(browser), true)
})

test('T30: after twenty wrong codes from everywhere only a known browser may try', async (t) => {
  const { pages, home, clock, code } = await openWithApp(t)
  for (let i = 0; i < 20; i++) {
    const browser = pages.openBrowser({ ip: `192.0.2.${60 + i}` })
    await browser.signIn()
    await browser.submit({ code: '000000' })
    assert.equal(browser.shown!.status, 400)
  }
  const stranger = pages.openBrowser({ ip: '192.0.2.99' })
  await stranger.signIn()
  await stranger.submit({ code: code() })
  assert.equal(stranger.shown!.status, 429)
  home.cookies.delete('__Host-session')
  clock.pass(30_000)
  await home.signIn()
  await home.submit({ code: code() })
  assert.equal(isSignedIn(home), true)
})

test('what asks for a recent password asks for the second factor too, and for that of the session', async (t) => {
  const { home, clock, code } = await openWithApp(t)
  clock.pass(10 * 60_000)
  for (const path of ['/account/tokens/', ownPath, appPath]) {
    assert.match((await home.open(path)).url, /^\/confirm\//, path)
  }
  await home.submit({ password })
  assert.match(home.shown!.url, /^\/second-factor\//)
  const { shown } = home
  assert.match((await home.open('/account/tokens/')).url, /^\/confirm\//, 'the password alone')
  home.shown = shown
  const before = home.cookies.get('__Host-session')
  await home.submit({ code: code() })
  assert.equal(home.shown!.url, appPath)
  assert.notEqual(home.cookies.get('__Host-session'), before)
  assert.equal((await home.open('/account/tokens/')).url, '/account/tokens/')
  // In another session of the browser the answer counts for nothing.
  clock.pass(10 * 60_000)
  await home.open('/account/tokens/')
  await home.submit({ password })
  const { fields } = readForms(home.shown!.text)[0]!
  const pending = home.shown!
  home.cookies.delete('__Host-session')
  home.shown = pending
  await home.send('/second-factor/', { ...fields, code: code() })
  assert.match(home.shown!.url, /done=late/)
  assert.equal(isSignedIn(home), false)
})

test('an authorization request with account_manage wants both as well', async (t) => {
  const { pages, home, clock, user, code } = await openWithApp(t)
  await pages.store.applications.insert({
    ...{ clientId: 'app', ownerId: user.id, name: 'Doorbell', secretHash: null },
    redirectUris: ['https://app.example/cb'],
    scopes: ['user_access', 'account_manage'],
  })
  clock.pass(10 * 60_000)
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb', scope: 'account_manage' },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  })
  await home.open(`/oauth/authorize/?${query}`)
  assert.match(home.shown!.url, /^\/confirm\//)
  await home.submit({ password })
  assert.match(home.shown!.url, /^\/second-factor\//)
  await home.submit({ code: code() })
  assert.match(home.shown!.text, /Doorbell wants to access your account/)
})

/** The button of the page whose form has this field. */
async function press(browser: TestBrowser, field: string) {
  await browser.open(ownPath)
  const form = readForms(browser.shown!.text).find(({ fields }) => field in fields)
  if (!form) throw new Error(`no form with ${field} in:\n${browser.shown!.text}`)
  await browser.send(form.action, form.fields)
  return form
}

test('new codes end the former ones; the last factor takes the codes along, and the password is enough again', async (t) => {
  const { pages, home, recoveryCodes } = await openWithApp(t)
  const user = pages.openBrowser()
  await addPasskey(home, 'Phone <b>')
  assert.match(home.shown!.url, /done=added/)
  assert.match(home.shown!.text, /Phone &lt;b&gt;/)
  await press(home, 'remove_app')
  assert.match(home.shown!.url, /done=removed/)
  await press(home, 'codes')
  const fresh = readCodes(home.shown!.text)
  assert.equal(fresh.length, 10)
  await user.signIn()
  await user.submit({ code: recoveryCodes[0]! })
  assert.equal(user.shown!.status, 400)
  await user.submit({ code: fresh[0]! })
  assert.equal(isSignedIn(user), true)
  user.cookies.clear()
  const remove = await press(home, 'remove_passkey')
  // A second click.
  await home.send(remove.action, remove.fields)
  assert.equal(home.shown!.url, `${ownPath}?done=removed`)
  await user.signIn()
  assert.equal(isSignedIn(user), true)
  await pages.accounts.flush()
  const subjects = pages.mails.map(
    ({ text }) => /^(.*?)(?: to sign in.*| from the IP address.*)/.exec(text)![1]!.split(' your Nightjar account')[0],
  )
  assert.deepEqual(subjects, [
    'An authenticator app was added to',
    'A passkey was added to',
    'The authenticator app was removed from',
    'New recovery codes were generated for',
    'One of your recovery codes was used',
    'A passkey was removed from',
  ])
})

test('each session says which second factor was given in it last', async (t) => {
  const { pages, clock, user, recoveryCodes, code } = await openWithApp(t)
  const kinds = async () => {
    const sessions = await pages.deps.sessions.list(user.id)
    return sessions.toSorted((a, b) => a.createdAtMs - b.createdAtMs).map(({ secondFactor }) => secondFactor)
  }
  assert.deepEqual(await kinds(), ['app'])
  const away = pages.openBrowser()
  await away.signIn()
  await away.submit({ code: recoveryCodes[0]! })
  assert.deepEqual(await kinds(), ['app', 'recovery_code'])
  clock.pass(10 * 60_000)
  await away.open(ownPath)
  await away.submit({ password })
  await away.submit({ code: code() })
  assert.deepEqual(await kinds(), ['app', 'app'])
  const passkey = await addPasskey(away)
  const third = pages.openBrowser()
  await third.signIn()
  await sendPasskey(third, passkey.get(readOptions(third)))
  assert.equal(isSignedIn(third), true)
  assert.deepEqual(await kinds(), ['app', 'passkey', 'passkey'])
})

async function openRequired(t: Parameters<typeof openTemporaryPages>[0]) {
  const clock = createClock()
  const pages = await openTemporaryPages(t, { clock })
  const user = await pages.addPerson()
  const before = pages.openBrowser()
  await before.signIn()
  await pages.store.settings.setSecondFactorRequired(true)
  const owner = pages.openBrowser()
  await owner.signIn()
  return { clock, pages, user, before, owner }
}

test('where owners need one, an owner without is led to set one up and gets nowhere else', async (t) => {
  const { clock, pages, user, before, owner } = await openRequired(t)
  assert.equal(isSignedIn(owner), true)
  const query = 'response_type=code&client_id=nightjar-dashboard&redirect_uri=x'
  for (const path of [
    '/account/',
    '/account/tokens/',
    '/account/password/',
    '/docs/',
    `/oauth/authorize/?${query}`,
    '/sign-in/',
  ]) {
    await owner.open(path)
    assert.ok(owner.shown!.url.startsWith(`${ownPath}?return_to=`), `${path} ${owner.shown!.url}`)
    if (path === '/docs/') continue
    const formToken = readForms(owner.shown!.text)[0]!.fields.form_token!
    const { location } = await owner.post(path, {
      form_token: formToken,
      others: 'all',
      name: 'token',
      answer: 'allow',
    })
    assert.ok(location?.startsWith(`${ownPath}?return_to=`), `POST ${path} ${location}`)
  }
  assert.deepEqual(await pages.deps.personalTokens.list(user.id), [])
  // Sessions of before go on.
  assert.equal((await before.open('/account/')).url, '/account/')
  await owner.open('/account/tokens/')
  assert.match(owner.shown!.text, /Owners of this server must use two-factor authentication/)
  const link = /href="(\/account\/second-factor\/app\/\?return_to=[^"]*)"/.exec(owner.shown!.text)![1]!
  await owner.open(link)
  await owner.submit({ code: codeAt(readSecret(owner.shown!.text), clock.nowMs()) }, appPath)
  assert.equal(readCodes(owner.shown!.text).length, 10)
  // On to where the browser wanted to go.
  assert.match(owner.shown!.text, /href="\/account\/tokens\/"/)
  assert.equal((await owner.open('/account/tokens/')).url, '/account/tokens/')
  // Neither does the last one go.
  await press(owner, 'remove_app')
  assert.equal(owner.shown!.status, 409)
  assert.equal((await pages.store.users.get(user.id)).hasSecondFactor, true)
})

test('others need none; who may sign out may; the rule that ends frees whoever waits', async (t) => {
  const { pages, owner } = await openRequired(t)
  await pages.addPerson('bob@example.org')
  const bob = pages.openBrowser()
  await bob.signIn('bob@example.org')
  assert.equal(bob.shown!.url, '/account/')
  await owner.open('/sign-out/')
  assert.equal(owner.shown!.url, '/sign-out/')
  await pages.store.settings.setSecondFactorRequired(false)
  assert.equal((await owner.open('/account/')).url, '/account/')
})

test('owners with one turn the rule on and off; nobody else does', async (t) => {
  const { pages, home } = await openWithApp(t)
  await pages.addPerson('bob@example.org')
  const bob = pages.openBrowser()
  await bob.signIn('bob@example.org')
  await bob.open(ownPath)
  const formToken = readForms(bob.shown!.text)[0]!.fields.form_token!
  await bob.send(ownPath, { form_token: formToken, owners: 'need' })
  assert.equal(await pages.store.settings.isSecondFactorRequired(), false)
  await press(home, 'owners')
  assert.equal(await pages.store.settings.isSecondFactorRequired(), true)
  assert.match(home.shown!.text, /Owners must now use two-factor authentication/)
  await press(home, 'owners')
  assert.equal(await pages.store.settings.isSecondFactorRequired(), false)
  assert.equal((await events(pages)).filter((event) => event === 'settings.changed').length, 2)
})
