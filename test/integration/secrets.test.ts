// What an hour of sign-ins leaves in the database and in the log: a record of each one, and no credentials.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readMailedLink } from '../e2e/outbox.ts'
import { testEachDatabase } from '../postgres/each-database.ts'
import { listTexts, readRows } from '../postgres/read-rows.ts'
import { ownerEmail as email, openServer } from '../server-under-test.ts'

type Pair = { access_token: string; refresh_token: string }
type Credentials = { client_id: string; client_secret: string; id: number }
type Events = { events: { event: string; subject: string | null; detail: Record<string, unknown> }[] }

const password = 'correct horse'

testEachDatabase(
  'T23, T44: neither the database nor the log contains credentials, and the audit log records their use',
  async (t, { kind, create }) => {
    const place = await create(t)
    if (kind === 'PostgreSQL') {
      process.env.NIGHTJAR_DATABASE = place
      t.after(() => delete process.env.NIGHTJAR_DATABASE)
    }
    await using server = await openServer('--log-level', 'debug', '--refresh-reuse-leeway-seconds', '0')
    const secrets: Record<string, string> = { password, ownersToken: server.token }
    const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      server.request<Pair>(path, {
        method: 'POST',
        authorization: null,
        form: { ...form },
        headers,
      })
    const app = (
      await server.request<Credentials>('/v1/me/applications/', {
        method: 'POST',
        body: { name: 'Doorbell', redirect_uris: ['https://app.example/cb'], password },
      })
    ).json
    secrets.clientSecret = app.client_secret
    const rotated = await server.request<Credentials>(`/v1/me/applications/${app.id}/rotate-secret/`, {
      method: 'POST',
      body: { password },
    })
    assert.equal(rotated.status, 200, rotated.text)
    secrets.rotatedSecret = rotated.json.client_secret
    const byCommand = await server.command<Credentials>('app', 'add', '--user', email, '--name', 'Other')
    secrets.commandSecret = byCommand.client_secret

    const client = { client_id: app.client_id }
    const grant = async (fields: Record<string, string>, headers?: Record<string, string>) => {
      const answer = await post('/oauth/token/', { ...client, ...fields }, headers)
      if (answer.status === 200) {
        for (const [name, value] of Object.entries(answer.json)) {
          if (name.endsWith('_token')) secrets[`${name}${Object.keys(secrets).length}`] = value
        }
      }
      return answer
    }
    const byPassword = { grant_type: 'password', username: email, password }
    const first = await grant(byPassword)
    assert.equal(first.status, 200, first.text)
    const refresh = (refresh_token: string, headers?: Record<string, string>) =>
      grant({ grant_type: 'refresh_token', refresh_token }, headers)
    secrets.idempotencyKey = 'a-key-that-nobody-guesses'
    const second = await refresh(first.json.refresh_token, { 'idempotency-key': secrets.idempotencyKey })
    assert.equal(second.status, 200, second.text)
    const third = await refresh(second.json.refresh_token)
    assert.equal(third.status, 200)
    assert.equal((await refresh(second.json.refresh_token)).status, 400)
    const other = await grant(byPassword)
    await post('/oauth/token-revoke/', { ...client, token: other.json.access_token })
    secrets.wrongPassword = 'wrong horse battery'
    for (let i = 0; i < 2; i++) await grant({ ...byPassword, password: secrets.wrongPassword })
    secrets.misplaced = 'typed where the address belongs'
    await grant({ ...byPassword, username: secrets.misplaced })
    secrets.wrongSecret = 'a secret that is not ours'
    await grant({ ...byPassword, client_secret: secrets.wrongSecret })

    const created = await server.request<{ token: string; id: number }>('/v1/me/tokens/', {
      method: 'POST',
      body: { name: 'x' },
    })
    secrets.personalToken = created.json.token
    await server.request('/v1/me/', { authorization: `PersonalAccessToken ${secrets.personalToken}` })
    await server.request(`/v1/me/tokens/${created.json.id}/`, { method: 'DELETE' })
    secrets.bearerGuess = 'njat_a-guess-at-a-bearer-token'
    await server.request('/v1/me/', { authorization: `Bearer ${secrets.bearerGuess}` })
    await server.request(`/v1/me/?access_token=${secrets.bearerGuess}`, { authorization: null })

    secrets.cameraPassword = 'camera-hunter2'
    const url = `rtsp://viewer:${secrets.cameraPassword}@127.0.0.1:9/stream`
    await server.command('camera', 'add', '--user', email, '--name', 'Door', '--url', url)
    secrets.passwordInPath = 'camera-hunter3'
    const inPath = `http://127.0.0.1:9/snapshot.cgi?user=viewer&pwd=${secrets.passwordInPath}`
    await server.command('camera', 'add', '--user', email, '--name', 'Yard', '--url', inPath)
    await server.command('camera', 'list')
    const cameras = await server.request<{ results: { live_snapshot: string; event_api_hash: string }[] }>(
      '/v1/cameras/',
    )
    secrets.eventHash = cameras.json.results[0]!.event_api_hash
    const report = { method: 'POST', authorization: null, body: { hash: secrets.eventHash, title: 'Door' } }
    assert.equal((await server.request('/v1/events/', report)).status, 201)
    const link = cameras.json.results[0]!.live_snapshot
    secrets.mediaToken = new URL(link).searchParams.get('token')!
    await server.request(link, { authorization: null })
    await server.request(link.replace(/.$/, 'x'), { authorization: null })

    const invited = await server.request('/v1/users/invitations/', {
      method: 'POST',
      body: { email: 'new@example.com' },
    })
    assert.ok(invited.status < 300, invited.text)
    const invitation = await readMailedLink(server, 'new@example.com')
    secrets.invitation = new URL(invitation).searchParams.get('token')!
    await server.request(invitation, { authorization: null })
    const changed = await server.request('/v1/me/', {
      method: 'PUT',
      body: { password, new_password: (secrets.newPassword = 'another horse entirely') },
    })
    assert.equal(changed.status, 200, changed.text)
    secrets.commandPassword = 'set from the command line'
    await server.command('user', 'passwd', email, '--password', secrets.commandPassword)

    const { events } = await server.command<Events>('audit', 'list')
    const names = new Set(events.map(({ event }) => event))
    for (const event of [
      'login.ok',
      'login.failed',
      'grant.created',
      'refresh.reused',
      'token.revoked',
      'pat.created',
      'pat.revoked',
      'app.created',
      'app.secret_rotated',
      'user.invited',
      'password.changed',
    ]) {
      assert.ok(names.has(event), `${event} among ${[...names].join(', ')}`)
    }

    await server.stop()
    const database = kind === 'SQLite' ? await readFiles(server.dataDir) : await readTables(place)
    assert.ok(database.includes(email), 'the database contains the email address')
    const log = server.log()
    assert.ok(log.includes('the server is up'), 'the log contains the start of the server')
    const audit = JSON.stringify(events)
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(secret?.length > 7, name)
      const forms = [
        secret,
        encodeURIComponent(secret),
        secret.replace(/^[a-z]+_/, ''),
        Buffer.from(secret).toString('base64'),
      ]
      for (const form of forms) {
        for (const encoding of ['utf8', 'utf16le'] as const) {
          assert.ok(!database.includes(Buffer.from(form, encoding)), `${name} is in the database`)
        }
        assert.ok(!log.includes(form), `${name} is in the log`)
        assert.ok(!audit.includes(form), `${name} is in the audit log`)
      }
    }
  },
)

/** Searches all of SQLite's files, including free pages. */
async function readFiles(dataDir: string): Promise<Buffer> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('nightjar.db'))
  assert.ok(files.length > 0)
  return Buffer.concat(await Promise.all(files.map((name) => readFile(join(dataDir, name)))))
}

async function readTables(place: string): Promise<Buffer> {
  return Buffer.from(listTexts(await readRows(place)).join('\n'), 'latin1')
}

test('the server has enough threads for both passwords and files', { skip: process.platform !== 'linux' }, async () => {
  await using server = await openServer()
  await server.request('/oauth/token/', { method: 'POST', authorization: null })
  const tasks = `/proc/${server.pid}/task`
  const names = await Promise.all((await readdir(tasks)).map((id) => readFile(join(tasks, id, 'comm'), 'utf8')))
  assert.equal(names.filter((name) => name.startsWith('libuv-worker')).length, 16)
})
