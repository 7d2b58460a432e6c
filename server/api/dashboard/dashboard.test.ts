// The dashboard's files and its OAuth flow, without its program.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { publicUrl } from '../../../test/support/api/temporary-api.ts'
import {
  openTemporaryPages,
  password,
  type TemporaryPages,
  type TestBrowser,
} from '../../../test/support/api/temporary-pages.ts'
import type { Clock } from '../../base/clock.ts'
import { systemClock } from '../../base/clock.ts'
import { viewPaths } from './dashboard.ts'

const document = '<!doctype html><title>dashboard</title>'

function build(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'nightjar-dashboard-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'app'))
  for (const [name, text] of [
    ['index.html', document],
    ['app/main-1a2b.js', 'export {}'],
  ] as const) {
    writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text))
  }
  return folder
}

async function open(t: TestContext, clock: Clock = systemClock) {
  const pages = await openTemporaryPages(t, { dashboard: build(t), clock })
  const ada = await pages.addPerson()
  return { ...pages, ada }
}

type Asked = { readonly path: string; readonly verifier: string }

function ask(scope = 'user_access'): Asked {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'nightjar-dashboard',
    redirect_uri: `${publicUrl}/signed-in`,
    scope,
    state: 's',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return { path: `/oauth/authorize/?${query}`, verifier }
}

test('at a foreign URL the dashboard names the right one and what to do', async (t) => {
  const pages = await openTemporaryPages(t, { dashboard: build(t) })
  const elsewhere = ask().path.replace(encodeURIComponent(publicUrl), encodeURIComponent('https://192.168.1.5:8443'))
  for (const addPerson of [async () => {}, pages.addPerson]) {
    await addPerson()
    const { status, text } = await pages.openBrowser().open(elsewhere)
    assert.equal(status, 400)
    assert.ok(text.includes(`<a href="${publicUrl}/">${publicUrl}</a>`))
    assert.match(text, /public-url/)
    assert.doesNotMatch(text, /192\.168\.1\.5/)
  }
})

async function exchange({ api }: TemporaryPages, location: string | undefined, verifier: string) {
  const code = new URL(location!).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', client_id: 'nightjar-dashboard', code, code_verifier: verifier }
  const payload = String(new URLSearchParams({ ...form, redirect_uri: `${publicUrl}/signed-in` }))
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { statusCode, payload: text } = await api.server.inject({
    method: 'POST',
    url: '/oauth/token/',
    headers,
    payload,
  })
  return { status: statusCode, json: JSON.parse(text) as Record<string, string> & { expires_in: number } }
}

async function refresh({ api }: TemporaryPages, token: string) {
  const form = { grant_type: 'refresh_token', client_id: 'nightjar-dashboard', refresh_token: token }
  const { statusCode, payload: text } = await api.server.inject({
    method: 'POST',
    url: '/oauth/token/',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: String(new URLSearchParams(form)),
  })
  return { status: statusCode, json: JSON.parse(text) as Record<string, string> }
}

async function statusOf({ api }: TemporaryPages, token: string | undefined, url = '/v1/me/'): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await api.server.inject({ method: 'GET', url, headers })).statusCode
}

async function signIn(pages: TemporaryPages, browser: TestBrowser, scope?: string) {
  const { path, verifier } = ask(scope)
  const { location } = await browser.get(path)
  return exchange(pages, location, verifier)
}

test('loads of the page leave no lines in the audit, access to the account does', async (t) => {
  const pages = await open(t)
  const browser = pages.openBrowser()
  await browser.signIn()
  const list = async () => {
    await pages.audit.flush()
    const lines = await pages.store.audit.list(undefined, { limit: 100, offset: 0 })
    return lines.map(({ event }) => event).filter((event) => event.startsWith('grant.'))
  }
  for (let loads = 0; loads < 3; loads++) await signIn(pages, browser)
  assert.deepEqual(await list(), [])
  await signIn(pages, browser, 'user_access account_manage')
  assert.deepEqual(await list(), ['grant.approved'])
})

test('a program that leaves out the version is told so, and gets no page', async (t) => {
  const { api } = await open(t)
  const get = (accept: string) => api.server.inject({ url: '/cameras/1/', headers: { accept } })
  const refused = await get('application/json')
  assert.deepEqual([refused.statusCode, refused.json().title], [404, 'not_found'])
  assert.match(refused.json().detail, /begin with \/v1\//)
  for (const accept of ['text/html,application/json;q=0.9', '*/*']) assert.equal((await get(accept)).statusCode, 200)
})

test('every view URL returns the same document with a strict content security policy', async (t) => {
  const { api } = await open(t)
  for (const path of viewPaths) {
    const { statusCode, headers, payload } = await api.server.inject({ method: 'GET', url: path.replace('*', '12/x') })
    assert.deepEqual([statusCode, payload], [200, document], path)
    assert.match(String(headers['content-security-policy']), /default-src 'none'; script-src 'self';/)
    assert.doesNotMatch(String(headers['content-security-policy']), /unsafe/)
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

test('files are compressed if accepted and not sent again if cached', async (t) => {
  const { api } = await open(t)
  const get = (headers: Record<string, string>) =>
    api.server.inject({ method: 'GET', url: '/app/main-1a2b.js', headers })
  const small = await get({ 'accept-encoding': 'gzip, br;q=0.9' })
  assert.equal(small.headers['content-encoding'], 'br')
  assert.equal(brotliDecompressSync(small.rawPayload).toString(), 'export {}')
  assert.equal((await get({ 'accept-encoding': 'br;q=0, gzip' })).headers['content-encoding'], 'gzip')
  assert.equal((await get({})).payload, 'export {}')
  assert.match(String(small.headers['cache-control']), /immutable/)
  assert.equal((await get({ 'if-none-match': String(small.headers.etag) })).statusCode, 304)
})

test('signing in leads back to the dashboard with a token and without a consent page', async (t) => {
  const pages = await open(t)
  const browser = pages.openBrowser()
  const { path, verifier } = ask()
  await browser.open(path)
  assert.match(browser.shown!.url, /^\/sign-in\//)
  await browser.submit({ email: pages.ada.email, password })
  const { status, json } = await exchange(pages, browser.shown!.location, verifier)
  assert.deepEqual([status, json.scope], [200, 'user_access'])
  assert.equal(await statusOf(pages, json.access_token), 200)
  assert.equal(await statusOf(pages, json.access_token, '/v1/me/tokens/'), 403)
  // The dashboard is neither among the user's applications nor among the authorized ones.
  assert.deepEqual(await pages.store.applications.listByOwner(pages.ada.id), [])
  assert.deepEqual(await pages.store.grants.list(pages.ada.id), [])
})

test('creating an account from an invitation leads to the shared camera', async (t) => {
  const pages = await openTemporaryPages(t, { dashboard: build(t) })
  const ada = await pages.addPerson()
  const camera = await pages.store.cameras.get(await pages.addCamera(ada.id))
  await pages.accounts.guests.invite({ camera, email: 'bob@example.org' })
  await pages.accounts.flush()
  const { pathname, search } = new URL(/https:\S+/.exec(pages.mails.at(-1)!.text)![0])
  const browser = pages.openBrowser()
  await browser.open(pathname + search)
  await browser.submit({ first_name: 'Bob', password: 'green owls sing late' })
  assert.deepEqual([browser.shown!.url, browser.shown!.text], [`/shared/${camera.id}`, document])
})

test("the dashboard's grant ends with its browser session and with no other", async (t) => {
  const pages = await open(t)
  const [here, there] = [pages.openBrowser(), pages.openBrowser()]
  await here.signIn()
  await there.signIn()
  const first = await signIn(pages, here)
  const second = await signIn(pages, there)
  const sessions = await pages.store.sessions.list(pages.ada.id)
  assert.equal(sessions.length, 2)
  await here.open('/sign-out/')
  await here.submit({})
  assert.equal(await statusOf(pages, first.json.access_token), 401)
  assert.equal(await statusOf(pages, second.json.access_token), 200)
})

test("renewing the dashboard's grant keeps the session alive until its maximum age", async (t) => {
  const dayMs = 86_400_000
  let nowMs = Date.now()
  const pages = await open(t, { ...systemClock, nowMs: () => nowMs })
  const [wall, closed] = [pages.openBrowser(), pages.openBrowser()]
  await wall.signIn()
  await closed.signIn()
  let { refresh_token: token = '' } = (await signIn(pages, wall)).json
  const left = (await signIn(pages, closed)).json
  for (let days = 0; days < 28; days += 4) {
    nowMs += 4 * dayMs
    const renewed = await refresh(pages, token)
    assert.equal(renewed.status, 200, `after ${days + 4} days`)
    token = renewed.json.refresh_token!
  }
  // Both sign in again by their cookies, as after a reload; the closed session does not.
  const { location } = await wall.get(ask().path)
  assert.match(String(location), /signed-in\?code=/)
  assert.match(String((await closed.get(ask().path)).location), /sign-in/)
  // Its grant does not bring the session back either.
  await refresh(pages, left.refresh_token!)
  assert.match(String((await closed.get(ask().path)).location), /sign-in/)
  nowMs += 2 * dayMs
  assert.match(String((await wall.get(ask().path)).location), /sign-in/)
})

test('creating credentials requires the password again, which counts for some minutes', async (t) => {
  let nowMs = Date.now()
  const pages = await open(t, { ...systemClock, nowMs: () => nowMs })
  const browser = pages.openBrowser()
  await browser.signIn()
  const fresh = await signIn(pages, browser, 'user_access account_manage')
  assert.equal(fresh.json.expires_in, 600)
  assert.equal(await statusOf(pages, fresh.json.access_token, '/v1/me/tokens/'), 200)
  nowMs += 11 * 60_000
  assert.equal(await statusOf(pages, fresh.json.access_token, '/v1/me/tokens/'), 401)
  const { path, verifier } = ask('user_access account_manage')
  await browser.open(path)
  assert.match(browser.shown!.url, /^\/confirm\//)
  await browser.submit({ password: 'wrong' })
  assert.equal(browser.shown!.status, 400)
  await browser.submit({ password })
  // The confirmation leads back to the request, which is now answered.
  const { status } = await exchange(pages, browser.shown!.location, verifier)
  assert.equal(status, 200)
})

test('the dashboard client allows no password grant, no other redirect URI, and requires PKCE', async (t) => {
  const pages = await open(t)
  const browser = pages.openBrowser()
  await browser.signIn()
  await signIn(pages, browser)
  const { path } = ask()
  const elsewhere = await browser.get(path.replace(encodeURIComponent('/signed-in'), encodeURIComponent('/elsewhere')))
  assert.deepEqual([elsewhere.status, elsewhere.location], [400, undefined])
  const bare = await browser.get(path.replace(/&code_challenge=[^&]*/, '').replace('&code_challenge_method=S256', ''))
  assert.match(bare.location!, /error=invalid_request/)
  const payload = String(
    new URLSearchParams({
      grant_type: 'password',
      client_id: 'nightjar-dashboard',
      username: pages.ada.email,
      password,
    }),
  )
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await pages.api.server.inject({ method: 'POST', url: '/oauth/token/', headers, payload })
  assert.deepEqual([answer.statusCode, JSON.parse(answer.payload).error], [400, 'unauthorized_client'])
})
