// What holds for every page.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicUrl } from '../../../test/support/api/temporary-api.ts'
import {
  openTemporaryPages,
  password,
  type Shown,
  type TemporaryPages,
} from '../../../test/support/api/temporary-pages.ts'
import { linkPaths } from '../../auth/accounts/account-links.ts'
import { createPages } from './pages.ts'
import { SignInService } from './sign-in-service.ts'

const listPages = ({ deps }: TemporaryPages) => createPages(deps, new SignInService(deps), publicUrl)

const scriptOf: Readonly<Record<string, string>> = {
  '/account/second-factor/': 'passkey',
  '/set-up/': 'password',
  '/reset/': 'password',
  '/invitation/': 'password',
  '/account/password/': 'password',
}

function checkHeaders({ headers, status, text }: Shown, path: string): void {
  const policy = String(headers['content-security-policy'])
  assert.match(
    policy,
    /default-src 'none';( script-src 'self';( connect-src 'self';)?)? style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'(; form-action 'self')?$/,
  )
  assert.doesNotMatch(policy, /unsafe|\*/)
  const [script = '', name] = /\n<script src="\/assets\/(\w+)-[\w-]{12}\.js" defer><\/script>/.exec(text) ?? []
  // Nobody has a passkey yet. The other pages, and answers that are no page, have a policy without scripts.
  const hasScript = name !== undefined && scriptOf[path] === name
  assert.equal(/ script-src 'self';/.test(policy), hasScript, path)
  assert.equal(/ connect-src 'self';/.test(policy), hasScript && name === 'password', path)
  assert.equal(headers['x-frame-options'], 'DENY')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['referrer-policy'], 'same-origin')
  assert.equal(headers['cache-control'], 'no-store')
  assert.doesNotMatch(text.replace(script, ''), /<script|<style|\sstyle=|\son[a-z]+=|javascript:/i, path)
  for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^access-control/, `T38: ${path} ${status}`)
  for (const cookie of [headers['set-cookie'] ?? []].flat()) {
    assert.match(
      cookie,
      /^__Host-(session|visit-[\w-]{8}|device|language)=[\w.-]*(; Max-Age=\d+)?; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    )
  }
}

test('T26: every page has the headers that keep it to itself, signed in or not, right or wrong', async (t) => {
  const pages = await openTemporaryPages(t, { signUp: 'open' })
  await pages.addPerson()
  const stranger = pages.openBrowser()
  const user = pages.openBrowser()
  await user.signIn()
  for (const { path } of listPages(pages)) {
    for (const browser of [stranger, user]) {
      for (const query of ['', '?token=x&client_id=y', '?ui_locales=de'])
        checkHeaders(await browser.get(path + query), path)
      checkHeaders(await browser.post(path, {}), path)
      checkHeaders(await browser.post(path, {}, { 'sec-fetch-site': 'cross-site' }), path)
    }
  }
})

test('T38: no method and no error of a page is for other origins', async (t) => {
  const pages = await openTemporaryPages(t)
  for (const { path } of listPages(pages)) {
    for (const method of ['OPTIONS', 'PUT', 'PATCH', 'DELETE'] as const) {
      const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST', accept: 'text/html' }
      const answer = await pages.api.server.inject({ method, url: path, headers })
      assert.equal(answer.statusCode, 405, `${method} ${path}`)
      assert.match(String(answer.headers.allow), /^GET, HEAD/)
      checkHeaders({ ...answer, status: 405, text: answer.payload, url: path, location: undefined } as never, path)
    }
  }
})

test('T27: no form is taken from another site', async (t) => {
  const pages = await openTemporaryPages(t, { signUp: 'open' })
  await pages.addPerson()
  const user = pages.openBrowser()
  await user.signIn()
  const forms = listPages(pages).filter(({ post }) => post)
  assert.ok(forms.length >= 10)
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: publicUrl },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${publicUrl}.evil.example` },
    { 'x-nothing': 'at all' },
  ]
  for (const { path } of forms) {
    for (const headers of foreign) {
      const { status } = await user.post(path, {}, headers)
      assert.equal(status, 403, `${path} ${JSON.stringify(headers)}`)
    }
  }
  assert.equal((await user.open('/account/')).status, 200)
})

test('T27: no form is taken without the token of the page it stands in', async (t) => {
  const pages = await openTemporaryPages(t, { signUp: 'open' })
  await pages.addPerson()
  const user = pages.openBrowser()
  await user.signIn()
  const other = pages.openBrowser()
  await other.open('/sign-in/')
  const foreignToken = /name="form_token" value="([^"]*)"/.exec(other.shown!.text)![1]!
  for (const { path, post } of listPages(pages)) {
    if (!post) continue
    for (const token of ['', 'x', foreignToken]) {
      const fields = { form_token: token, email: 'ada@example.org', password, token: 'x', answer: 'allow' }
      const { status, location, headers } = await user.post(path, fields)
      assert.ok(status === 403 || status === 404, `${path} ${status}`)
      assert.equal(location, undefined)
      assert.ok(![headers['set-cookie'] ?? []].flat().some((cookie) => cookie.includes('session=')))
    }
  }
  // Older browsers say only which origin the page is from.
  await user.open('/sign-out/')
  const formToken = /name="form_token" value="([^"]*)"/.exec(user.shown!.text)![1]!
  assert.equal((await user.post('/sign-out/', { form_token: formToken }, { origin: publicUrl })).status, 303)
})

test('who is not signed in is sent to sign in, and comes back', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  for (const { path, audience } of listPages(pages)) {
    if (audience !== 'user') continue
    const browser = pages.openBrowser()
    const { text, url } = await browser.open(path)
    assert.match(url, /^\/sign-in\/\?return_to=[\w-]{50,500}$/, path)
    assert.doesNotMatch(text, /ada@/)
    await browser.submit({ email: 'ada@example.org', password })
    assert.equal(browser.shown!.url, path)
    // What is behind a link is not there without one.
    assert.equal(browser.shown!.status, path === linkPaths.email ? 404 : 200)
  }
})

test('T29: nothing that is asked for leads away from this server', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const elsewhere = ['//e', '/\\e', 'https:e', '%2f%2fe', '\t//e', 'https://e/', 'javascript:alert(1)', '///e', '\\\\e']
  for (const next of elsewhere) {
    const browser = pages.openBrowser()
    await browser.open(`/sign-in/?next=${encodeURIComponent(next)}`)
    await browser.submit({ email: 'ada@example.org', password })
    assert.equal(browser.shown!.url, '/account/', next)
  }
  const browser = pages.openBrowser()
  await browser.open('/sign-in/?next=/account/password/')
  await browser.submit({ email: 'ada@example.org', password })
  assert.equal(browser.shown!.url, '/account/password/')
  await browser.open('/sign-out/')
  const { location } = await browser.post('/sign-out/', {
    form_token: /name="form_token" value="([^"]*)"/.exec(browser.shown!.text)![1]!,
    next: '//evil.example/',
  })
  assert.equal(location, '/sign-in/?done=signedOut')
})

test('what another browser wanted to do is not done in this one', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const other = pages.openBrowser()
  const { url } = await other.open('/account/password/')
  const browser = pages.openBrowser()
  await browser.open(url)
  await browser.submit({ email: 'ada@example.org', password })
  assert.equal(browser.shown!.url, '/account/')
})

test('forms that no browser sends are refused as pages, or as JSON to programs', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const ask = (payload: string, type = 'application/x-www-form-urlencoded', accept = 'text/html') =>
    pages.api.server.inject({
      method: 'POST',
      url: '/sign-in/',
      payload,
      headers: { 'content-type': type, accept, 'sec-fetch-site': 'same-origin' },
    })
  assert.equal((await ask('email=a&email=b')).statusCode, 400)
  assert.equal((await ask('email=a%00b')).statusCode, 400)
  assert.equal((await ask(`email=${'a'.repeat(20_000)}`)).statusCode, 413)
  assert.equal((await ask('{}', 'application/json')).statusCode, 415)
  assert.equal((await ask('--x', 'multipart/form-data; boundary=x')).statusCode, 415)
  assert.match((await ask('email=%ff%fe&__proto__=1&form_token=')).payload, /<!doctype html>/)
  const json = await ask('email=a&email=b', undefined, 'application/json')
  assert.deepEqual(json.json(), { status: 400, title: 'invalid', detail: 'The form could not be read.' })
})

test('browsers may cache the style sheet and the images forever', async (t) => {
  const pages = await openTemporaryPages(t)
  const { text } = await pages.openBrowser().open('/reset/')
  const [style, icon] = ['stylesheet', 'icon'].map((rel) => new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)![1]!)
  const sheet = await pages.api.server.inject(style!)
  assert.match(String(sheet.headers['content-type']), /^text\/css/)
  assert.match(String(sheet.headers['cache-control']), /immutable/)
  const images = [...sheet.payload.matchAll(/url\("([^"]+)"\)/g)].map(([, url]) => url!)
  for (const url of [icon!, ...images]) {
    assert.equal((await pages.api.server.inject(url)).headers['content-type'], 'image/svg+xml')
  }
  assert.equal(images.length, 2)
})
