// Client libraries that existing programs use, against the running server. The user's part in the browser is done by
// the test.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { hashToken } from '../../server/auth/checked-token.ts'
import { createClientId, createOAuthSecret } from '../../server/auth/oauth/oauth-secrets.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { openStore } from '../../server/store/store.ts'
import { eventually, openServerHere } from '../server-under-test.ts'
import { addSession, createTemporaryOAuth, testContext } from '../support/auth/temporary-oauth.ts'

const redirectUri = 'https://app.example/cb'
const username = 'owner@example.com'
const password = 'correct horse'

async function open(t: TestContext) {
  const server = await openServerHere()
  t.after(() => server[Symbol.asyncDispose]())
  const credentialsKey = (await openSecretKey(server.dataDir)).deriveKey('camera credentials')
  const store = await openStore({ database: server.database, credentialsKey, foreignIntervalMs: 0 })
  t.after(() => store.close())
  const user = (await store.users.findByEmail(username))!
  const secret = createOAuthSecret('clientSecret', randomBytes)
  const addApp = (secretHash: Uint8Array | null) =>
    store.applications.insert({
      clientId: createClientId(randomBytes),
      ownerId: user.id,
      name: 'Doorbell',
      redirectUris: [redirectUri],
      secretHash,
    })
  const beside = createTemporaryOAuth(store, { publicUrl: server.url })
  /** Grants access as the user and returns the redirect URL. */
  const approve = async (url: string): Promise<string> => {
    const { origin, pathname, searchParams } = new URL(url)
    assert.equal(origin + pathname, `${server.url}/oauth/authorize/`)
    const found = await beside.authorization.check(searchParams)
    assert.equal(found.kind, 'ask')
    const { request } = found as Extract<typeof found, { kind: 'ask' }>
    return (await beside.authorization.approve(request, await addSession(store, user), testContext)).location
  }
  const statusOfMe = async (access: string) =>
    (await server.request('/v1/me/', { authorization: `Bearer ${access}` })).status
  /** At once by the server that revoked it, and by another one within a second. */
  const isRefused = (access: string) =>
    eventually('the token is refused', 1000, async () => (await statusOfMe(access)) === 401)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, server.ca])
  t.after(() => setDefaultCACertificates(before))
  const [confidential, installed] = [await addApp(hashToken(secret)), await addApp(null)]
  return { server, store, secret, confidential, installed, approve, statusOfMe, isRefused }
}

test('T41: openid-client completes code with PKCE, password, refresh and revocation', async (t) => {
  const { server, secret, confidential, installed, approve, statusOfMe, isRefused } = await open(t)
  const discover = (clientId: string, auth: openid.ClientAuth) =>
    openid.discovery(new URL(server.url), clientId, undefined, auth, { algorithm: 'oauth2' })
  for (const config of [
    await discover(confidential.clientId, openid.ClientSecretPost(secret)),
    await discover(confidential.clientId, openid.ClientSecretBasic(secret)),
    await discover(installed.clientId, openid.None()),
  ]) {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const state = `a b+c%&=${openid.randomState()}ü`
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'read write',
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const callback = new URL(await approve(url.href))
    const first = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState: state })
    assert.equal(first.scope, 'read write')
    assert.equal(first.expires_in, 36_000)
    const second = await openid.refreshTokenGrant(config, first.refresh_token!)
    assert.deepEqual([await statusOfMe(first.access_token), await statusOfMe(second.access_token)], [401, 200])
    // The answer may have been lost.
    const again = await openid.refreshTokenGrant(config, first.refresh_token!)
    assert.equal(again.refresh_token, second.refresh_token)
    await openid.tokenRevocation(config, second.refresh_token!)
    await isRefused(second.access_token)
    await assert.rejects(openid.refreshTokenGrant(config, first.refresh_token!), { error: 'invalid_grant' })
    const third = await openid.genericGrantRequest(config, 'password', { username, password, scope: 'read' })
    assert.equal(await statusOfMe(third.access_token), 200)
    const wrong = openid.genericGrantRequest(config, 'password', { username, password: 'wrong' })
    await assert.rejects(wrong, { error: 'invalid_grant', status: 400 })
  }
  const wrong = await discover(confidential.clientId, openid.ClientSecretBasic('wrong'))
  await assert.rejects(openid.genericGrantRequest(wrong, 'password', { username, password }), {
    cause: [{ scheme: 'bearer', parameters: { error: 'invalid_client' } }],
  })
})

test('T41: oauth4webapi completes code with PKCE, password, refresh and revocation', async (t) => {
  const { server, secret, confidential, installed, approve, statusOfMe, isRefused } = await open(t)
  const issuer = new URL(server.url)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
  const as = await oauth.processDiscoveryResponse(issuer, response)
  for (const [clientId, auth] of [
    [confidential.clientId, oauth.ClientSecretPost(secret)],
    [confidential.clientId, oauth.ClientSecretBasic(secret)],
    [installed.clientId, oauth.None()],
  ] as const) {
    const client: oauth.Client = { client_id: clientId }
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const url = new URL(as.authorization_endpoint!)
    url.search = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'user_access',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString()
    const parameters = oauth.validateAuthResponse(as, client, new URL(await approve(url.href)), state)
    const exchange = await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, redirectUri, verifier)
    const first = await oauth.processAuthorizationCodeResponse(as, client, exchange)
    assert.equal(first.scope, 'user_access')
    const refresh = await oauth.refreshTokenGrantRequest(as, client, auth, first.refresh_token!)
    const second = await oauth.processRefreshTokenResponse(as, client, refresh)
    assert.deepEqual([await statusOfMe(first.access_token), await statusOfMe(second.access_token)], [401, 200])
    const revocation = await oauth.revocationRequest(as, client, auth, second.access_token)
    assert.equal(await oauth.processRevocationResponse(revocation), undefined)
    await isRefused(second.access_token)
    const fields = { username, password, scope: 'read write' }
    const login = await oauth.genericTokenEndpointRequest(as, client, auth, 'password', fields)
    const third = await oauth.processGenericTokenEndpointResponse(as, client, login)
    assert.equal(await statusOfMe(third.access_token), 200)
  }
})

test('T41: requests-oauthlib completes code with PKCE, password, refresh and revocation', async (t) => {
  const { server, secret, confidential, approve } = await open(t)
  const program = fileURLToPath(new URL('oauth-client.py', import.meta.url))
  const args = [program, server.url, server.caFile, confidential.clientId, secret, redirectUri, username, password]
  const child = spawn('/usr/bin/python3', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const errors: string[] = []
  createInterface(child.stderr).on('line', (line) => errors.push(line))
  const exited = once(child, 'exit')
  let isDone = false
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line) as { url?: string; done?: true }
    if (said.url !== undefined) child.stdin.write(`${await approve(said.url)}\n`)
    isDone = said.done === true
  }
  const [code] = await exited
  assert.deepEqual([code, isDone], [0, true], errors.join('\n'))
})

test('T2, T23: the log of these flows contains no token, code, secret or password', async (t) => {
  const { server, store, secret, confidential, approve } = await open(t)
  const config = await openid.discovery(new URL(server.url), confidential.clientId, undefined, openid.ClientSecretPost(secret), { algorithm: 'oauth2' }) // biome-ignore format: one line
  const url = openid.buildAuthorizationUrl(config, { redirect_uri: redirectUri, scope: 'read' })
  const callback = new URL(await approve(url.href))
  const first = await openid.authorizationCodeGrant(config, callback)
  const second = await openid.refreshTokenGrant(config, first.refresh_token!)
  await store.grants.commit([{ kind: 'revoke_grant', grantId: 1, userId: 1, reason: 'refresh_reused' }], {
    nowMs: 1,
    ip: '',
    label: '',
  })
  await assert.rejects(openid.refreshTokenGrant(config, second.refresh_token!))
  await openid.genericGrantRequest(config, 'password', { username, password: 'wrong horse' }).catch(() => {})
  await server.stop()
  const log = server.log()
  assert.ok(log.length > 0)
  for (const hidden of [
    first.access_token,
    first.refresh_token,
    second.access_token,
    second.refresh_token,
    callback.searchParams.get('code'),
    secret,
    'wrong horse',
  ]) {
    // biome-ignore format: one line
    assert.ok(!log.includes(hidden!))
  }
})
