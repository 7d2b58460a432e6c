// What nobody sends in good faith, to the pages and the OAuth endpoints, and what they say when something of ours fails.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Value } from 'typebox/value'
import { endpointNames, endpoints } from '../../../contract/endpoints.ts'
import { Problem } from '../../../contract/schema.ts'
import { publicUrl } from '../../../test/support/api/temporary-api.ts'
import { openTemporaryPages, password } from '../../../test/support/api/temporary-pages.ts'
import { addApplication, testPassword, testSecret } from '../../../test/support/auth/temporary-oauth.ts'
import { formTokenOf } from '../../auth/sessions/secret-value.ts'
import { createPages } from './pages.ts'
import { SignInService } from './sign-in-service.ts'

/** Stack, file, statement. */
const inner =
  /\bat .+:\d+:\d+|\.ts\b|node_modules|node:|sqlite|\bselect\b .*\bfrom\b|\binsert into\b|constraint|\/(?:tmp|home|root|usr|var|srv)\//i

type Method = 'GET' | 'POST' | 'HEAD' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
type Answer = { statusCode: number; headers: Record<string, unknown>; body: string }

/** `isFailing`: whether a part was made to fail. */
async function open(t: TestContext, isFailing = () => false) {
  const pages = await openTemporaryPages(t, { signUp: 'open' })
  const user = await pages.addPerson()
  await addApplication(pages.store, { ownerId: user.id })
  const { sessions } = pages.deps
  let cookie = ''
  /** Of a browser that is signed in; what is sent may sign it out. */
  const signedIn = async () => {
    if (!(await sessions.find(cookie))) {
      const started = await sessions.start(user, { ip: '192.0.2.7', userAgent: undefined })
      cookie = started.cookie.split(';')[0]!
    }
    return { cookie, formToken: formTokenOf(cookie.split('=')[1]!) }
  }
  const { authorization } = await pages.addUser('program@example.org', ['user_access', 'account_manage'])
  const service = new SignInService(pages.deps)
  const paths = createPages(pages.deps, service, publicUrl).map(({ path }) => path)
  const send = async (method: Method, url: string, headers: Record<string, string>, payload?: string) => {
    const request = { method, url, headers, ...(payload !== undefined && { payload }) }
    // A 500 is in no description.
    const answer = await (isFailing() ? pages.injectUnchecked(request) : pages.api.server.inject(request))
    return answer as unknown as Answer
  }
  return { ...pages, user, signedIn, authorization, paths, send }
}

/** The form of every refusal: OAuth's, the API's, or a page. */
function check({ statusCode, headers, body }: Answer, about: string): void {
  assert.equal(headers['x-powered-by'] ?? headers.server, undefined, about)
  if (statusCode < 400 || body === '') return
  // What was typed is shown again.
  assert.doesNotMatch(body.replaceAll(/ value="[^"]*"/g, ''), inner, about)
  const type = String(headers['content-type'])
  if (type.startsWith('text/html')) {
    assert.match(body, /^<!doctype html>/, about)
    return
  }
  assert.equal(type, 'application/json', about)
  const problem = JSON.parse(body)
  if (typeof problem.error === 'string') {
    assert.match(problem.error, /^[a-z_]+$/, about)
    assert.deepEqual(
      Object.keys(problem).filter((key) => !/^error(_description)?$/.test(key)),
      [],
      about,
    )
  } else {
    assert.ok(Value.Check(Problem, problem), about)
    assert.equal(problem.status, statusCode, about)
  }
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    "1' or '1'='1",
    '%00',
    '%',
    '\0',
    '__proto__',
    'constructor',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    'https://app.example/cb',
    'https://app.example/cb/../x',
    'app',
    'code',
    'token',
    'read write',
    'S256',
    'allow',
    testPassword,
    testSecret,
    'ada@example.org',
    'a@b\r\nBcc: c@d',
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '\u202e',
    '\ud800',
    '9'.repeat(30),
    'njln_'.padEnd(54, '0'),
    'njac_'.padEnd(54, 'a'),
    'x'.repeat(9000),
  ),
)

const names = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'token') },
  { weight: 5, arbitrary: fc.constantFrom('return_to', 'next', 'email', 'password', 'new_password', 'code', 'done') },
  { weight: 5, arbitrary: fc.constantFrom('grant_type', 'username', 'refresh_token', 'code_challenge', 'question') },
  { weight: 3, arbitrary: fc.constantFrom('revoke', 'app', 'browser', 'others', 'answer', 'first_name', 'name') },
  hostile,
)

test('T43: whatever is sent to pages and OAuth endpoints, no 5xx, and nothing of the inside', async (t) => {
  const { paths, signedIn, send } = await open(t)
  const places = [
    ...paths.filter((path) => path !== '/'),
    ...['/oauth/token/', '/oauth/token-revoke/', '/.well-known/oauth-authorization-server', '/oauth/', '/oauth/x'],
    ...['/account/x', '/media/cameras/1/live.jpg', '/recording/streams/x/hls/playlist.m3u8', '/look/x.css'],
  ]
  const fields = fc.array(fc.tuple(names, hostile), { maxLength: 5 })
  const request = fc.record({
    method: fc.constantFrom<Method>('GET', 'GET', 'POST', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
    place: fc.constantFrom(...places),
    query: fields,
    form: fields,
    isSignedIn: fc.boolean(),
    hasFormToken: fc.boolean(),
    isRaw: fc.boolean(),
    type: fc.constantFrom(
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json',
      '',
    ),
    accept: fc.constantFrom('text/html', 'application/json', '*/*', 'text/html;q=0', ''),
    site: fc.constantFrom('same-origin', 'none', 'cross-site', 'x'),
    credentials: hostile.filter((text) => /^[\x20-\x7e]*$/.test(text)),
  })
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      const { cookie, formToken } = await signedIn()
      const encode = one.isRaw ? (text: string) => text : (text: string) => encodeURIComponent(text.toWellFormed())
      const write = (pairs: readonly (readonly [string, string])[]) =>
        pairs.map((pair) => pair.map(encode).join('=')).join('&')
      const search = write(one.query).replaceAll(/[^\x21-\x7e]/g, (letter) => encodeURIComponent(letter.toWellFormed()))
      const form = one.hasFormToken ? [...one.form, ['form_token', formToken] as const] : one.form
      const headers = {
        'content-type': one.type,
        accept: one.accept,
        'sec-fetch-site': one.site,
        cookie: one.isSignedIn ? cookie : `__Host-session=${one.credentials}; __Host-visit=${one.credentials}`,
        ...(one.credentials !== '' && { authorization: one.credentials, 'idempotency-key': one.credentials }),
      }
      const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(one.method)
      const url = `${one.place}?${search}`
      const answer = await send(one.method, url, headers, hasBody ? write(form) : undefined)
      const about = `${one.method} ${url} ${hasBody ? write(form) : ''}: ${answer.statusCode} ${answer.body}`
      // The password is right now and then, and hashed: too many at once is said so.
      assert.ok(answer.statusCode < 500 || answer.statusCode === 503, about)
      check(answer, about)
      assert.doesNotMatch(String(answer.headers.location ?? '/'), /^(\/\/|\/\\|https?:\/\/evil|javascript:)/, about)
      assert.doesNotMatch(answer.body, /<script>alert|<img src=x/, about)
    }),
    { numRuns: 2000 },
  )
})

test('T43: what fails inside is not told to anybody, whatever is asked', async (t) => {
  let isFailing = false
  const { store, paths, signedIn, authorization, send } = await open(t, () => isFailing)
  const { cookie, formToken } = await signedIn()
  await send('GET', '/v1/me/', { authorization })
  isFailing = true
  const failure = new Error("SQLITE_ERROR: insert into users values ('x') in /srv/nightjar/data/nightjar.db")
  failure.stack = `${failure.message}\n    at find (/srv/nightjar/server/store/accounts/users.ts:12:3)`
  for (const table of Object.values(store)) {
    if (typeof table !== 'object' || table === null) continue
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(table))) {
      if (name !== 'constructor') Object.defineProperty(table, name, { value: () => Promise.reject(failure) })
    }
  }
  const form = String(new URLSearchParams({ form_token: formToken, email: 'ada@example.org', password, token: 'x' }))
  const client = { client_id: 'app', client_secret: testSecret }
  const grants = [
    { grant_type: 'password', username: 'ada@example.org', password: testPassword },
    { grant_type: 'authorization_code', code: `njac_${'0'.repeat(49)}`, redirect_uri: 'https://app.example/cb' },
    { grant_type: 'refresh_token', refresh_token: `njrt_${'0'.repeat(49)}` },
    { token: `njat_${'0'.repeat(49)}` },
  ].map((fields) => String(new URLSearchParams({ ...client, ...fields } as Record<string, string>)))
  const seen = new Map<number, number>()
  const ask = async (method: Method, url: string, headers: Record<string, string>, payload?: string) => {
    const answer = await send(method, url, headers, payload)
    const about = `${method} ${url}: ${answer.statusCode} ${answer.body}`
    check(answer, about)
    seen.set(answer.statusCode, (seen.get(answer.statusCode) ?? 0) + 1)
  }
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const accept of ['text/html', 'application/json']) {
    for (const path of paths) {
      const headers = { accept, cookie, 'sec-fetch-site': 'same-origin' }
      await ask(
        'GET',
        `${path}?token=njln_${'0'.repeat(49)}&client_id=app&redirect_uri=https://app.example/cb`,
        headers,
      )
      await ask('POST', path, { ...headers, ...type }, form)
    }
  }
  for (const payload of grants) {
    for (const path of ['/oauth/token/', '/oauth/token-revoke/']) await ask('POST', path, type, payload)
  }
  for (const name of endpointNames) {
    const { method, path } = endpoints[name]
    const url = path.replaceAll(/\{\w+\}/g, '1')
    const headers = { authorization, 'content-type': 'application/json' }
    await ask(
      method,
      url,
      headers,
      method === 'GET' || method === 'DELETE' ? undefined : '{"name":"x","email":"a@b.org"}',
    )
  }
  await ask('GET', '/healthz', {})
  assert.ok(seen.get(500)! > 40, JSON.stringify([...seen]))
})
