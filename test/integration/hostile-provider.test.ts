// Identity providers that lie, stall or redirect, and users who present responses of others: nobody is signed in.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type LyingProvider, openLyingProvider, type Saying, sendJson } from '../identity/lying-provider.ts'
import { clientSecret, type ProviderEntry, writeProviderFile } from '../identity/provider-file.ts'
import { PageVisitor } from '../page-visitor.ts'
import { openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const back = '/sign-in/with/office/back/'
const claims = { sub: 'person-1', email: 'ada@example.org', email_verified: true }

type Scene = AsyncDisposable & { readonly provider: LyingProvider; readonly server: ServerUnderTest }

/** A server on which a valid response creates an account. */
async function openScene(...others: readonly ProviderEntry[]): Promise<Scene> {
  await using held = new AsyncDisposableStack()
  const provider = held.use(await openLyingProvider())
  const file = held.use(await writeProviderFile({ id: 'office', ...provider }, ...others))
  const server = held.use(await openServerHere(...file.args, '--sign-up', 'open'))
  const resources = held.move()
  return { provider, server, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

async function press(browser: PageVisitor, id = 'office') {
  await browser.open('/sign-in/')
  const [, path] = new RegExp(`href="(/sign-in/with/${id}/[^"]*)"`).exec(browser.shown!.text)!
  return browser.open(path!)
}

async function isSignedIn(browser: PageVisitor): Promise<boolean> {
  return (await browser.open('/account/')).path === '/account/'
}

async function comeBack(browser: PageVisitor, { provider }: Scene, saying: Saying) {
  const { location } = await press(browser)
  return browser.open(`${back}?${provider.authorize(location!, { claims, ...saying })}`)
}

test('an ID token that is unsigned, forged, expired, or for another client or issuer signs nobody in', async () => {
  await using scene = await openScene()
  const { provider, server } = scene
  const nowS = Math.floor(Date.now() / 1000)
  const mac = (text: string) => createHmac('sha256', clientSecret).update(text).digest('base64url')
  const lies: Record<string, Saying> = {
    'wrong nonce': { claims: { ...claims, nonce: 'another' } },
    'no nonce': { claims: { ...claims, nonce: undefined } },
    'another issuer': { claims: { ...claims, iss: 'https://evil.example' } },
    'another client': { claims: { ...claims, aud: 'somebody-else' } },
    'another client too, and no azp': { claims: { ...claims, aud: ['nightjar', 'somebody-else'] } },
    'another azp': { claims: { ...claims, aud: ['nightjar', 'somebody-else'], azp: 'somebody-else' } },
    expired: { claims: { ...claims, iat: nowS - 7200, exp: nowS - 3600 } },
    'no expiry': { claims: { ...claims, exp: undefined } },
    'no subject': { claims: { ...claims, sub: undefined } },
    'an empty subject': { claims: { ...claims, sub: '' } },
    'a subject that is too long': { claims: { ...claims, sub: 'x'.repeat(256) } },
    'a subject with NUL': { claims: { ...claims, sub: 'person-1\0' } },
    'a subject that is a number': { claims: { ...claims, sub: 1 } },
    'alg none': { header: { alg: 'none' }, signature: '' },
    'alg none, signed': { header: { alg: 'none' } },
    symmetric: { header: { alg: 'HS256' }, signature: mac('x') },
    'a key that is not published': { isForged: true },
    'an unknown key': { header: { kid: 'other' } },
    'no signature': { signature: '' },
    'a signature of nothing': { signature: 'AAAA' },
    'a critical header': { header: { crit: ['exp'], exp: 1 } },
    'no ID token': { answer: (response) => sendJson(response, { access_token: 'at', token_type: 'Bearer' }) },
    'an ID token that is none': {
      answer: (response) => sendJson(response, { access_token: 'at', token_type: 'Bearer', id_token: 'a.b.c' }),
    },
    'an error': { answer: (response) => sendJson(response, { error: 'invalid_grant' }, 400) },
  }
  for (const [name, saying] of Object.entries(lies)) {
    const browser = new PageVisitor(server)
    const shown = await comeBack(browser, scene, saying)
    assert.equal(shown.status, 400, `${name}: ${shown.status}`)
    assert.match(shown.text, /is not valid/, name)
    assert.equal(await isSignedIn(browser), false, name)
  }
  // Metadata that allows these algorithms does not make them acceptable.
  provider.description = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] }
  const { users } = await server.command<{ users: { email: string }[] }>('user', 'list')
  assert.deepEqual(
    users.map(({ email }) => email),
    ['owner@example.com'],
  )
  const honest = new PageVisitor(server)
  await comeBack(honest, scene, {})
  assert.equal(await isSignedIn(honest), true)
  assert.doesNotMatch(server.log(), /person-1|ada@example\.org|client of the|a secret of the client/)
})

test("unsigned and symmetrically signed tokens are rejected even if the provider's metadata allows them", async () => {
  await using scene = await openScene()
  scene.provider.description = { id_token_signing_alg_values_supported: ['none', 'HS256'] }
  for (const saying of [
    { header: { alg: 'none' }, signature: '' },
    { header: { alg: 'HS256' }, signature: 'AAAA' },
  ]) {
    const browser = new PageVisitor(scene.server)
    assert.equal((await comeBack(browser, scene, saying)).status, 400)
    assert.equal(await isSignedIn(browser), false)
  }
})

test('an authorization response is accepted once, in the browser that started the sign-in, from the provider it was sent to', async () => {
  await using second = await openLyingProvider()
  await using scene = await openScene({ id: 'school', ...second })
  const { provider, server } = scene
  const began = new PageVisitor(server)
  const { location } = await press(began)
  const good = provider.authorize(location!, { claims })
  const change = (values: Record<string, string | undefined>) => {
    const query = new URLSearchParams(good)
    for (const [name, value] of Object.entries(values))
      value === undefined ? query.delete(name) : query.set(name, value)
    return query
  }
  const stranger = new PageVisitor(server)
  await stranger.open('/sign-in/')
  for (const [browser, path, query] of [
    [stranger, back, good],
    [new PageVisitor(server), back, good],
    [began, '/sign-in/with/school/back/', good],
    [began, back, change({ state: 'another' })],
    [began, back, change({ state: undefined })],
    [began, back, new URLSearchParams(`${good}&state=${good.get('state')}`)],
  ] as const) {
    const shown = await browser.open(`${path}?${query}`)
    assert.equal(shown.status, 400)
    assert.match(shown.text, /has expired/)
    assert.equal(await isSignedIn(browser), false)
  }
  assert.equal(provider.tokenRequests.length, 0, 'the provider got a request although nobody started a sign-in')
  assert.equal(second.tokenRequests.length, 0)
  await began.open(`${back}?${good}`)
  assert.equal(await isSignedIn(began), true)
  // Some browsers open a link twice. Nobody else gets in with it.
  assert.equal((await began.open(`${back}?${good}`)).path, '/')
  assert.match((await stranger.open(`${back}?${good}`)).text, /has expired/)
  assert.equal(provider.tokenRequests.length, 1)

  // A response with another issuer, or without one although the provider announces that it sends it.
  for (const iss of ['https://evil.example', second.issuer, undefined]) {
    const browser = new PageVisitor(server)
    const sent = await press(browser)
    const query = provider.authorize(sent.location!, { claims })
    iss === undefined ? query.delete('iss') : query.set('iss', iss)
    assert.equal((await browser.open(`${back}?${query}`)).status, 400, String(iss))
    assert.equal(await isSignedIn(browser), false)
  }
  assert.equal(provider.tokenRequests.length, 1)
})

test('a link that starts a sign-in does not work in another browser, and three concurrent sign-ins succeed', async () => {
  await using scene = await openScene()
  const { provider, server } = scene
  const eve = new PageVisitor(server)
  await eve.open('/sign-in/')
  const [, path] = /href="(\/sign-in\/with\/office\/[^"]*)"/.exec(eve.shown!.text)!
  const victim = new PageVisitor(server)
  assert.equal((await victim.open(path!)).status, 400)
  await victim.open('/sign-in/')
  assert.equal((await victim.open(path!)).status, 400)
  assert.equal((await victim.open('/sign-in/with/office/')).status, 400)
  const tabs = []
  for (let tab = 0; tab < 4; tab++) tabs.push((await press(eve)).location!)
  const answers = tabs.map((location) => provider.authorize(location, { claims }))
  assert.match((await eve.open(`${back}?${answers[0]}`)).text, /has expired/)
  for (const answer of answers.slice(1)) assert.equal((await eve.open(`${back}?${answer}`)).path, '/')
})

test("denying access leads back to the sign-in page, and the provider's error texts are not shown", async () => {
  await using scene = await openScene()
  for (const [error, status] of [
    ['access_denied', 403],
    ['server_error', 503],
    ['<script>alert(1)</script>', 400],
  ] as const) {
    const browser = new PageVisitor(scene.server)
    const { location } = await press(browser)
    const state = new URL(location!).searchParams.get('state')!
    const query = new URLSearchParams({
      error,
      error_description: 'Call+1-800-EVIL',
      state,
      iss: scene.provider.issuer,
    })
    const shown = await browser.open(`${back}?${query}`)
    assert.equal(shown.status, status, error)
    assert.doesNotMatch(shown.text, /EVIL|<script/)
    assert.match(shown.text, /href="\/sign-in\/"/)
    assert.equal(await isSignedIn(browser), false)
  }
  assert.doesNotMatch(scene.server.log(), /EVIL/)
})

const described = (change: Record<string, unknown>) => (provider: LyingProvider) => {
  provider.description = change
}

test('invalid provider metadata leads to an error page', async () => {
  let reached = 0
  const inside = createServer((_request, response) => {
    reached++
    sendJson(response, {})
  })
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  const at = `127.0.0.1:${(inside.address() as AddressInfo).port}`
  const faults: Record<string, (provider: LyingProvider) => void> = {
    'another issuer': described({ issuer: 'https://evil.example' }),
    'no token endpoint': described({ token_endpoint: undefined }),
    'no keys': described({ jwks_uri: undefined }),
    'a script in the place of a page': described({ authorization_endpoint: 'javascript:alert(1)' }),
    'a page without TLS': described({ authorization_endpoint: `http://${at}/` }),
    'too long': (provider) => {
      provider.describe = (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const chunk = Buffer.alloc(64 * 1024, 0x20)
        const more = () => {
          while (!response.destroyed) if (!response.write(chunk)) return void response.once('drain', more)
        }
        more()
      }
    },
    'sent on': (provider) => {
      provider.describe = (response) => void response.writeHead(302, { location: `http://${at}/` }).end()
    },
    'no JSON': (provider) => {
      provider.describe = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    },
    compressed: (provider) => {
      provider.describe = (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x')
      }
    },
    'cut off': (provider) => {
      provider.describe = (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        response.write('{')
        setTimeout(() => response.destroy(), 50)
      }
    },
    'an error': (provider) => {
      provider.describe = (response) => void response.writeHead(500).end()
    },
    'a status of nothing': (provider) => {
      provider.describe = (response) => void response.writeHead(999).end()
    },
  }
  try {
    await using held = new AsyncDisposableStack()
    const entries = await Promise.all(
      Object.entries(faults).map(async ([name, set], index) => {
        const provider = held.use(await openLyingProvider())
        set(provider)
        return { name, provider, entry: { id: `p${index}`, ...provider } }
      }),
    )
    const file = held.use(await writeProviderFile(...entries.map(({ entry }) => entry)))
    const server = held.use(await openServerHere(...file.args))
    for (const { name, provider, entry } of entries) {
      const browser = new PageVisitor(server)
      const shown = await press(browser, entry.id)
      assert.equal(shown.status, 503, `${name}: ${shown.status} ${shown.location}`)
      assert.match(shown.text, /is unavailable/)
      const before = provider.asked.length
      // The failure is cached, so that strangers cannot make the server send requests.
      for (let i = 0; i < 5; i++) assert.equal((await press(browser, entry.id)).status, 503)
      assert.equal(provider.asked.length, before, name)
    }
    assert.equal(
      (await new PageVisitor(server).signIn('owner@example.com', 'correct horse')).path,
      '/',
      'a password works',
    )
    assert.equal(reached, 0)
  } finally {
    inside.closeAllConnections()
    inside.close()
  }
})

test('internal endpoints in provider metadata are not requested, and every request has a timeout', async () => {
  let reached = 0
  const inside = createServer((_request: IncomingMessage, response: ServerResponse) => {
    reached++
    sendJson(response, {})
  })
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  const { port } = inside.address() as AddressInfo
  try {
    await using held = new AsyncDisposableStack()
    const urls = [
      `http://localhost:${port}/token`,
      `https://localhost:${port}/token`,
      `https://127.0.0.1:${port}/token`,
      `https://[::ffff:127.0.0.1]:${port}/token`,
      `https://10.0.0.1:${port}/token`,
      'https://169.254.169.254/latest',
    ]
    const providers = await Promise.all(
      urls.map(async (url) => {
        const provider = held.use(await openLyingProvider())
        provider.description = { token_endpoint: url }
        return provider
      }),
    )
    const entries = providers.map((provider, index) => ({ id: `p${index}`, ...provider }))
    const file = held.use(await writeProviderFile(...entries))
    const server = held.use(await openServerHere(...file.args, '--sign-up', 'open'))
    for (const [index, provider] of providers.entries()) {
      const browser = new PageVisitor(server)
      const { location, status } = await press(browser, `p${index}`)
      if (location === undefined) assert.equal(status, 503)
      else {
        const shown = await browser.open(`/sign-in/with/p${index}/back/?${provider.authorize(location, { claims })}`)
        assert.equal(shown.status, 503, urls[index])
      }
      assert.equal(await isSignedIn(browser), false)
    }
    assert.equal(reached, 0)
  } finally {
    inside.closeAllConnections()
    inside.close()
  }
  await using scene = await openScene()
  const held: ServerResponse[] = []
  const browser = new PageVisitor(scene.server)
  const shown = await comeBack(browser, scene, {
    answer: (response) => {
      held.push(response)
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 500)
      response.on('close', () => clearInterval(timer))
    },
  })
  assert.equal(shown.status, 503)
  assert.equal(held.length, 1)
})

test('a malformed email address that resembles that of an account is rejected', async () => {
  await using scene = await openScene()
  await scene.server.command(
    'user',
    'add',
    '--email',
    'kate@example.org',
    '--first-name',
    'Kate',
    '--password',
    'evening horses',
  )
  for (const email of [
    '\u212Aate@example.org',
    'kate@example.org\0',
    'kate@example.org, eve@example.org',
    'no address',
    7,
  ]) {
    const browser = new PageVisitor(scene.server)
    const shown = await comeBack(browser, scene, { claims: { sub: 'person-1', email, email_verified: true } })
    assert.equal(shown.status, 403, String(email))
    assert.match(shown.text, /has not verified/)
  }
})

test('an email address from the userinfo endpoint is accepted only for the same subject', async () => {
  await using scene = await openScene()
  const { provider, server } = scene
  const bare = { claims: { sub: 'person-1' } }
  provider.saying = { userinfo: { sub: 'person-2', email: 'owner@example.com', email_verified: true } }
  const browser = new PageVisitor(server)
  const refused = await comeBack(browser, scene, bare)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /has not verified/)
  provider.saying = { userinfo: { sub: 'person-1', email: 'ada@example.org', email_verified: true } }
  await comeBack(browser, scene, bare)
  assert.equal(await isSignedIn(browser), true)
})
