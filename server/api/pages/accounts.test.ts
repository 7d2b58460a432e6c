// Signing in and what surrounds it, as somebody with a browser goes through it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryPages, password, type TemporaryPages } from '../../../test/support/api/temporary-pages.ts'
import { systemClock } from '../../base/clock.ts'

const newPassword = 'green owls sing late'

/** The path and query of the link in the newest mail. */
async function readLink({ accounts, mails }: TemporaryPages): Promise<string> {
  await accounts.flush()
  const { pathname, search } = new URL(/https:\S+/.exec(mails.at(-1)!.text)![0])
  return pathname + search
}

test('T27: signing in gives a new session, whatever the browser brought along', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  const browser = pages.openBrowser()
  const planted = 'p'.repeat(43)
  browser.cookies.set('__Host-session', planted)
  await browser.signIn()
  const first = browser.cookies.get('__Host-session')!
  assert.notEqual(first, planted)
  assert.equal(browser.shown!.url, '/account/')
  assert.match(browser.shown!.text, /Firefox/)
  for (const name of browser.cookies.keys()) if (name.startsWith('__Host-visit')) browser.cookies.delete(name)
  // A page that was open since before is outdated: nothing happens, and nothing typed but the password is lost.
  await browser.post('/sign-in/', { form_token: 'x', email: 'ada@example.org', password })
  assert.equal(browser.shown!.status, 403)
  assert.match(browser.shown!.text, /value="ada@example\.org"/)
  await browser.submit({ password })
  assert.notEqual(browser.cookies.get('__Host-session'), first)
  assert.equal((await pages.deps.sessions.list(user.id)).length, 1)
})

test('what was typed is kept, the password is not, and what is wrong is said at the field', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const browser = pages.openBrowser()
  await browser.open('/sign-in/')
  await browser.submit({ email: '<ada>@example.org', password: 'sesame sesame' })
  assert.equal(browser.shown!.status, 400)
  assert.match(browser.shown!.text, /<title>Error: Sign in/)
  assert.match(
    browser.shown!.text,
    /value="&lt;ada&gt;@example\.org"[^>]*aria-invalid="true" aria-describedby="email-error" autofocus/,
  )
  await browser.submit({ email: 'ada@example.org', password: 'sesame sesame' })
  assert.equal(browser.shown!.status, 400)
  assert.match(browser.shown!.text, /role="alert">The email address or password is incorrect/)
  assert.doesNotMatch(browser.shown!.text, /sesame/)
  const plain = (text: string) => text.replace(/name="form_id" value="[\w-]+"/, '')
  const wrong = browser.shown!.text
  await browser.submit({ email: 'bob@example.org', password: 'sesame sesame' })
  assert.equal(plain(browser.shown!.text.replace('bob@', 'ada@')), plain(wrong))
  await browser.submit({ email: '', password: '' })
  assert.match(browser.shown!.text, /Enter your email address\.[\s\S]*Enter your password\./)
})

test('T30: after too many wrong passwords the page says when to try again', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const browser = pages.openBrowser()
  await browser.open('/sign-in/')
  for (let i = 0; i < 5; i++) await browser.submit({ email: 'ada@example.org', password: `wrong wrong ${i}` })
  assert.equal(browser.shown!.status, 400)
  await browser.submit({ email: 'ada@example.org', password })
  assert.equal(browser.shown!.status, 429)
  assert.match(String(browser.shown!.headers['retry-after']), /^\d+$/)
  assert.match(browser.shown!.text, /Too many attempts/)
  assert.match(browser.shown!.text, /value="ada@example\.org"/)
  const other = pages.openBrowser({ ip: '198.51.100.4' })
  await other.signIn()
  assert.equal(other.shown!.url, '/account/')
})

test('signing out asks first, and ends the session', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  const browser = pages.openBrowser()
  await browser.signIn()
  await browser.open('/sign-out/')
  assert.equal((await pages.deps.sessions.list(user.id)).length, 1)
  await browser.submit({})
  assert.match(browser.shown!.text, /You have been signed out/)
  assert.equal(browser.cookies.has('__Host-session'), false)
  assert.deepEqual(await pages.deps.sessions.list(user.id), [])
})

test('T45: the first owner is whoever has the setup code', async (t) => {
  const pages = await openTemporaryPages(t)
  const code = await pages.accounts.signUps.createSetupCode()
  const browser = pages.openBrowser()
  await browser.open('/')
  assert.equal(browser.shown!.url, '/set-up/')
  const person = { first_name: 'Ada', last_name: '<Lind>', email: 'ada@example.org', password: newPassword }
  await browser.submit({ ...person, code: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' })
  assert.equal(browser.shown!.status, 400)
  assert.match(browser.shown!.text, /The setup code is incorrect/)
  assert.match(browser.shown!.text, /value="&lt;Lind&gt;"/)
  await browser.submit({ ...person, code, password: 'short' })
  assert.match(browser.shown!.text, /id="password-error">The password must be 8 to 256 characters long/)
  await browser.submit({ ...person, code: ` ${code.toLowerCase()} ` })
  assert.equal(browser.shown!.url, '/account/')
  assert.equal((await pages.store.users.findByEmail('ada@example.org'))?.isOwner, true)
  await pages.openBrowser().open(`/set-up/?code=${code}`)
  const late = pages.openBrowser()
  await late.open('/set-up/')
  assert.equal(late.shown!.url, '/sign-in/')
})

test('who is invited to a camera reads who shares which, makes the account, and is told where it is', async (t) => {
  const pages = await openTemporaryPages(t)
  const ada = await pages.addPerson()
  const invite = async (name: string) => {
    const camera = await pages.store.cameras.get(await pages.addCamera(ada.id, name))
    await pages.accounts.guests.invite({ camera, email: 'bob@example.org' })
    return readLink(pages)
  }
  const [first, second, third] = [
    await invite('Front <door>'),
    await invite('Garage'),
    await invite('see evil.example'),
  ]
  const browser = pages.openBrowser()
  await browser.open(third)
  assert.match(browser.shown!.text, /ada@example\.org shared a camera with you\./)
  await browser.open(first)
  assert.match(browser.shown!.text, /ada@example\.org shared the camera “Front &lt;door&gt;” with you\./)
  await browser.submit({ first_name: 'Bob', password: newPassword })
  assert.equal(browser.shown!.url, '/account/?done=shared')
  assert.match(browser.shown!.text, /Your account is ready\. You can now view the camera that was shared with you\./)
  const bob = (await pages.store.users.findByEmail('bob@example.org'))!
  assert.equal(await pages.store.shares.countCameras(bob.id), 3)

  // The other two links are for nothing any more, but whoever opens one is not sent away.
  const other = pages.openBrowser()
  assert.equal((await other.open(first)).status, 404)
  await other.open(second)
  assert.equal(other.shown!.status, 200)
  assert.match(other.shown!.text, /An account for bob@example\.org already exists/)
  assert.match(other.shown!.text, /href="\/sign-in\/"/)
})

test('an invitation is used by the button, once; looking at it uses nothing up', async (t) => {
  const pages = await openTemporaryPages(t)
  const { id } = await pages.addPerson()
  await pages.accounts.signUps.invite({ email: 'bob@example.org', inviterId: id })
  const link = await readLink(pages)
  for (let i = 0; i < 3; i++) await pages.openBrowser().open(link)
  const browser = pages.openBrowser()
  await browser.open(link)
  assert.match(browser.shown!.text, /ada@example\.org invited you[\s\S]*bob@example\.org/)
  await browser.submit({ first_name: '', password: newPassword })
  assert.equal(browser.shown!.status, 400)
  await browser.submit({ first_name: 'Bob', last_name: 'Vale', password: newPassword })
  assert.equal(browser.shown!.url, '/account/')
  assert.match(browser.shown!.text, /Bob Vale/)
  await pages.openBrowser().open(link)
  const late = await pages.openBrowser().open(link)
  assert.equal(late.status, 404)
  assert.match(late.text, /This invitation is not valid/)
})

test('T31: asking for a new password answers the same for known and unknown addresses', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const [known, unknown] = await Promise.all(
    ['ada@example.org', 'eve@example.org'].map(async (email) => {
      const browser = pages.openBrowser()
      await browser.open('/reset/')
      await browser.submit({ email })
      return { status: browser.shown!.status, text: browser.shown!.text.replaceAll(email, '…') }
    }),
  )
  assert.deepEqual(known, unknown)
  await pages.accounts.flush()
  assert.equal(pages.mails.length, 1)
})

test('without a mail server, whoever forgot a password is told what to do instead of waiting for a mail', async (t) => {
  const pages = await openTemporaryPages(t, { hasMailServer: false })
  const browser = pages.openBrowser()
  assert.match((await browser.open('/reset/')).text, /no mail server .* “nightjar user passwd”/)
  await browser.submit({ email: 'ada@example.org' })
  assert.match(browser.shown!.text, /outbox folder/)
  assert.doesNotMatch(browser.shown!.text, /Check your email/)
  assert.doesNotMatch(browser.shown!.text, /spam folder/)
})

test('T17: a new password by mail ends all sessions, and its link works once', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  const old = pages.openBrowser()
  await old.signIn()
  const browser = pages.openBrowser()
  await browser.open('/reset/')
  await browser.submit({ email: user.email })
  const link = await readLink(pages)
  await browser.open(link)
  await browser.submit({ password: 'password123' })
  assert.match(browser.shown!.text, /too easy to guess/)
  await browser.submit({ password: newPassword })
  assert.match(browser.shown!.text, /Your password has been changed/)
  const device = [...browser.cookies].find(([name]) => name.endsWith('device'))![1]
  assert.ok(device.startsWith(`${user.id}.`), 'the browser is known, whatever others do to the account')
  assert.equal((await old.get('/account/')).status, 302)
  await browser.submit({ email: user.email, password: newPassword })
  assert.equal(browser.shown!.url, '/account/')
  assert.equal((await pages.openBrowser().open(link)).status, 404)
})

test('changing the password keeps this browser signed in, under a new session id, and no other', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const [browser, other] = [pages.openBrowser(), pages.openBrowser()]
  await browser.signIn()
  await other.signIn()
  const before = browser.cookies.get('__Host-session')
  await browser.open('/account/password/')
  await browser.submit({ password: 'wrong wrong', new_password: newPassword })
  assert.match(browser.shown!.text, /id="password-error"/)
  await browser.submit({ password, new_password: 'short' })
  assert.match(browser.shown!.text, /id="new_password-error"/)
  await browser.submit({ password, new_password: newPassword })
  assert.match(browser.shown!.text, /Your password has been changed/)
  assert.notEqual(browser.cookies.get('__Host-session'), before)
  assert.equal((await other.get('/account/')).status, 302)
})

test('a new address counts once the link sent to it was used', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  const browser = pages.openBrowser()
  await browser.signIn()
  await browser.open('/account/email/')
  await browser.submit({ email: 'ada@new.example', password: 'wrong wrong' })
  assert.match(browser.shown!.text, /id="password-error"/)
  await browser.submit({ email: 'ada@new.example', password })
  assert.match(browser.shown!.text, /ada@new\.example/)
  const link = await readLink(pages)
  await pages.addPerson('eve@new.example')
  const eve = pages.openBrowser({ ip: '198.51.100.4' })
  await eve.open(link)
  assert.match(eve.shown!.url, /^\/sign-in\//)
  await eve.submit({ email: 'eve@new.example', password })
  assert.equal(eve.shown!.status, 403)
  assert.match(eve.shown!.text, /belongs to a different account/)
  const token = new URL(link, 'https://x').searchParams.get('token')!
  const formToken = /name="form_token" value="([^"]*)"/.exec(eve.shown!.text)![1]!
  assert.equal((await eve.post(link, { token, form_token: formToken })).status, 404)
  const other = pages.openBrowser()
  await other.open(link)
  assert.match(other.shown!.url, /^\/sign-in\//)
  await other.submit({ email: user.email, password })
  assert.equal(other.shown!.url, link)
  await browser.open(link)
  assert.match(browser.shown!.text, /from ada@example\.org to ada@new\.example/)
  assert.equal((await pages.store.users.find(user.id))?.email, 'ada@example.org')
  await browser.submit({})
  assert.equal((await pages.store.users.find(user.id))?.email, 'ada@new.example')
  assert.equal((await browser.open(link)).status, 404)
  assert.equal((await other.get('/account/')).status, 302)
})

test('T44: users see who may get in, and end it', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  const browsers = [pages.openBrowser(), pages.openBrowser(), pages.openBrowser()] as const
  for (const browser of browsers) await browser.signIn()
  const [own, second, third] = browsers
  await own.open('/account/')
  await own.submit({}, '/account/')
  assert.match(own.shown!.text, /The browser has been signed out/)
  const alive = async () =>
    Promise.all(browsers.map(async (browser) => (await browser.get('/account/')).status === 200))
  assert.deepEqual((await alive()).filter(Boolean).length, 2)
  await own.open('/account/')
  const token = /name="form_token" value="([^"]*)"/.exec(own.shown!.text)![1]!
  await own.post('/account/', { form_token: token, others: 'all' })
  assert.deepEqual(await alive(), [true, false, false])
  await pages.audit.flush()
  const events = (await pages.store.audit.list(user.id, { limit: 50, offset: 0 })).map(({ event }) => event)
  assert.equal(events.filter((event) => event === 'session.revoked').length, 2)
  assert.ok(second && third)
})

test('the password is asked for again after ten minutes, where that matters', async (t) => {
  let aheadMs = 0
  const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
  const pages = await openTemporaryPages(t, { clock })
  await pages.addPerson()
  const browser = pages.openBrowser()
  await browser.signIn()
  await browser.open('/account/tokens/')
  assert.equal(browser.shown!.url, '/account/tokens/')
  aheadMs = 10 * 60_000
  await browser.open('/account/tokens/')
  assert.match(browser.shown!.url, /^\/confirm\/\?return_to=/)
  await browser.submit({ password: 'wrong wrong' })
  assert.match(browser.shown!.text, /The password is incorrect/)
  const before = browser.cookies.get('__Host-session')
  await browser.submit({ password })
  assert.equal(browser.shown!.url, '/account/tokens/')
  assert.notEqual(browser.cookies.get('__Host-session'), before)
})

test('a personal access token is shown once, works, and is revoked', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const browser = pages.openBrowser()
  await browser.signIn()
  await browser.open('/account/tokens/')
  await browser.submit({ name: ' ' })
  assert.match(browser.shown!.text, /Enter a name/)
  await browser.submit({ name: '<Script>' })
  const value = /njp_[0-9A-Za-z]{36}/.exec(browser.shown!.text)![0]
  const ask = async () => {
    const headers = { authorization: `PersonalAccessToken ${value}` }
    return (await pages.api.server.inject({ url: '/v1/me/', headers })).statusCode
  }
  assert.equal(await ask(), 200)
  await browser.open('/account/tokens/')
  assert.ok(!browser.shown!.text.includes(value))
  assert.match(browser.shown!.text, /&lt;Script&gt;/)
  await browser.submit({}, '/account/tokens/')
  assert.match(browser.shown!.text, /The token has been revoked/)
  assert.equal(await ask(), 401)
})

test('a password that changes right after it was found right signs nobody in', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  const { login } = pages.deps
  const verify = login.verify.bind(login)
  login.verify = async (input) => {
    const found = await verify(input)
    await pages.accounts.administration.change(user.id, { newPassword })
    return found
  }
  const browser = pages.openBrowser()
  await browser.signIn()
  assert.equal(browser.shown!.status, 400)
  assert.match(browser.shown!.text, /The email address or password is incorrect/)
  assert.equal(browser.cookies.has('__Host-session'), false)
  assert.deepEqual(await pages.deps.sessions.list(user.id), [])
})

test('whoever knew the old password is no known device any more; who changes it stays one', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const [own, other] = [pages.openBrowser(), pages.openBrowser({ ip: '198.51.100.4' })]
  for (const browser of [own, other]) await browser.signIn()
  const isKnown = async (browser: typeof own) => {
    const user = (await pages.store.users.findByEmail('ada@example.org'))!
    return pages.devices.isKnown(browser.cookies.get('__Host-device'), user)
  }
  assert.deepEqual([await isKnown(own), await isKnown(other)], [true, true])
  await own.open('/account/password/')
  await own.submit({ password, new_password: newPassword })
  assert.equal(own.shown!.url, '/account/?done=password')
  assert.deepEqual([await isKnown(own), await isKnown(other)], [true, false])

  await other.open('/reset/')
  await other.submit({ email: 'ada@example.org' })
  await other.open(await readLink(pages))
  await other.submit({ password })
  assert.deepEqual([await isKnown(own), await isKnown(other)], [false, true])
  await pages.accounts.administration.change(1, { email: 'byron@example.org' })
  const moved = (await pages.store.users.get(1))!
  assert.equal(pages.devices.isKnown(other.cookies.get('__Host-device'), moved), false)
})

test('password managers find the page that changes the password', async (t) => {
  const pages = await openTemporaryPages(t)
  const { status, location } = await pages.openBrowser().get('/.well-known/change-password')
  assert.deepEqual([status, location], [302, '/account/password/'])
})
