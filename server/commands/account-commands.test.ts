// Commands for accounts, applications and sessions, on a real data folder.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../test/support/command-line.ts'
import { hashToken } from '../auth/checked-token.ts'
import { openSecretKey } from '../auth/secret-key.ts'
import { Sessions } from '../auth/sessions/sessions.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import { openStore } from '../store/store.ts'

const program = fileURLToPath(new URL('./nightjar.ts', import.meta.url))

async function open(t: TestContext) {
  const data = await mkdtemp(join(tmpdir(), 'nightjar-cli-'))
  t.after(() => rm(data, { recursive: true }))
  const env = { PATH: process.env.PATH, NIGHTJAR_DATA: data }
  const run = (words: readonly string[], input = '') => runCommand([...words, '--json'], { env, input })
  const succeed = async (words: readonly string[], input?: string) => {
    const outcome = await run(words, input)
    assert.equal(outcome.code, 0, `${words.join(' ')}: ${outcome.stderr}`)
    return outcome.json
  }
  const withStore = async <T>(work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>): Promise<T> => {
    const credentialsKey = (await openSecretKey(data)).deriveKey('camera credentials')
    await using store = await openStore({ database: join(data, 'nightjar.db'), credentialsKey, foreignIntervalMs: 0 })
    return await work(store)
  }
  return { data, env, run, succeed, withStore }
}

test('users: the first is the owner, passwords change, and all but the last owner can be deleted', async (t) => {
  const { run, succeed, withStore } = await open(t)
  const add = (email: string, ...more: string[]) =>
    succeed(['user', 'add', '--email', email, '--password-stdin', ...more], 'hairy otters sing\n')
  assert.equal((await add('ada@example.org')).is_owner, true)
  assert.equal((await add('bob@example.org')).is_owner, false)
  assert.equal((await add('eve@example.org', '--owner')).is_owner, true)
  assert.equal((await succeed(['user', 'owner', 'eve@example.org', '--undo'])).is_owner, false)
  for (const words of [
    ['owner', '1', '--undo'],
    ['disable', '1'],
    ['remove', '1'],
  ]) {
    const { code, json } = await run(['user', ...words])
    assert.deepEqual([code, json.error?.kind], [1, 'conflict'], words.join(' '))
  }
  const { code, json } = await run(['user', 'add', '--email', 'x@example.org', '--password', 'Password123'])
  assert.deepEqual([code, json.error?.kind], [1, 'invalid'])

  const session = await withStore(async (store) => {
    const sessions = new Sessions({ rows: store.sessions, clock: systemClock, log: silentLogger })
    return sessions.start(await store.users.get(2), { ip: '192.0.2.1', userAgent: 'Browser' })
  })
  assert.deepEqual(
    (await succeed(['session', 'list', 'bob@example.org'])).sessions.map(({ id }: { id: string }) => id),
    [session.id],
  )
  assert.equal((await run(['session', 'revoke', 'bob@example.org', '--id', 'x'])).json.error.kind, 'not_found')
  const { token } = await succeed(['token', 'create', '--user', '2'])
  await succeed(['user', 'passwd', 'bob@example.org', '--password-stdin', '--revoke-tokens'], 'bald eagles hum\n')
  assert.deepEqual((await succeed(['session', 'list', '2'])).sessions, [])
  await withStore(async (store) => {
    assert.equal(await store.tokens.findLiveByHash(hashToken(token)), undefined)
    const events = (await store.audit.list(2, { limit: 10, offset: 0 })).map(({ event }) => event)
    assert.deepEqual(events, ['password.changed', 'pat.created', 'user.created'])
  })
  await succeed(['session', 'revoke', 'bob@example.org'])
  const lasting = await succeed(['token', 'create', '--user', '2', '--name', 'door'])
  assert.deepEqual(await succeed(['user', 'sign-out', 'bob@example.org']), { id: 2, signed_out: true })
  assert.equal((await succeed(['token', 'list', '--user', '2'])).tokens.at(-1).revoked_at, null)
  await succeed(['token', 'revoke', String(lasting.id)])
  await succeed(['token', 'revoke', String(lasting.id)])
  await succeed(['token', 'create', '--user', '2'])
  await succeed(['user', 'sign-out', '2', '--revoke-tokens'])
  assert.notEqual((await succeed(['token', 'list', '--user', '2'])).tokens.at(-1).revoked_at, null)
  await withStore(async (store) => {
    const events = (await store.audit.list(2, { limit: 6, offset: 0 })).map(({ event, subject }) => [event, subject])
    assert.deepEqual(events, [
      ['user.signed_out', 'bob@example.org'],
      ['pat.created', ''],
      ['pat.revoked', 'door'],
      ['user.signed_out', 'bob@example.org'],
      ['pat.created', 'door'],
      ['session.revoked', 'bob@example.org'],
    ])
  })
  assert.deepEqual(await succeed(['user', 'remove', 'bob@example.org']), { id: 2, removed: true })
  assert.equal((await run(['user', 'passwd', '2', '--password', 'hairy otters sing'])).json.error.kind, 'not_found')
})

test('applications: imported or created, changed, given a new secret and removed; no secret is stored in clear', async (t) => {
  const { data, run, succeed, withStore } = await open(t)
  await succeed(['user', 'add', '--email', 'ada@example.org', '--password-stdin'], 'hairy otters sing\n')
  const old = randomBytes(24).toString('base64url')
  const base = [
    'app',
    'add',
    '--user',
    '1',
    '--name',
    'Bell',
    '--redirect-uris',
    'https://a.example/cb https://b.example/cb',
  ]
  const brought = await succeed(
    [...base, '--client-id', 'OldServerApp.1', '--secret-stdin', '--scope', 'read'],
    `${old}\n`,
  )
  assert.deepEqual(
    [brought.client_id, brought.client_secret, brought.redirect_uris, brought.scope, brought.user_id],
    ['OldServerApp.1', old, ['https://a.example/cb', 'https://b.example/cb'], 'read', 1],
  )
  const made = await succeed(['app', 'add', '--user', '1', '--name', 'Made'])
  assert.match(made.client_secret, /^njcs_\w{49}$/)
  const phone = await succeed(['app', 'add', '--user', '1', '--name', 'Phone', '--public'])
  assert.deepEqual([phone.client_secret, phone.confidential], [null, false])
  for (const [words, code] of [
    [[...base, '--client-id', 'OldServerApp.1'], 1],
    [[...base, '--client-id', 'a b'], 1],
    [[...base, '--secret', 'short'], 1],
    [[...base, '--public', '--secret', old], 2],
    [['app', 'add', '--user', '1', '--name', 'x', '--redirect-uris', 'javascript:alert(1)'], 1],
    [['app', 'add', '--user', '1', '--name', 'x', '--allow-password', 'maybe'], 1],
    [['app', 'change', 'nobody', '--name', 'x'], 1],
    [['app', 'rotate', String(phone.id)], 1],
  ] as const) {
    assert.equal((await run(words)).code, code, words.join(' '))
  }
  const change = [
    'app',
    'change',
    'OldServerApp.1',
    '--require-secret',
    'yes',
    '--allow-password',
    'no',
    '--name',
    'Bells',
  ]
  const changed = await succeed(change)
  assert.deepEqual([changed.require_secret, changed.allow_password, changed.name], [true, false, 'Bells'])
  const rotated = await succeed(['app', 'rotate', String(made.id)])
  assert.notEqual(rotated.client_secret, made.client_secret)
  await withStore(async ({ applications }) => {
    const hash = (await applications.findClient(made.client_id))!.secretHash
    assert.deepEqual(Buffer.from(hash!), Buffer.from(hashToken(rotated.client_secret)))
  })
  await succeed(['app', 'remove', made.client_id])
  assert.deepEqual(
    (await succeed(['app', 'list'])).applications.map(({ name }: { name: string }) => name),
    ['Bells', 'Phone'],
  )
  for (const name of readdirSync(data)) {
    const bytes = readFileSync(join(data, name), 'latin1')
    for (const secret of [old, made.client_secret, rotated.client_secret]) assert.ok(!bytes.includes(secret), name)
  }
})

test('T45: the first start prints a setup code, later ones do not', async (t) => {
  const { data, env, succeed } = await open(t)
  const start = async () => {
    const words = ['serve', '--port', '0', '--host', '127.0.0.1', '--workers', '1', '--log-level', 'silent', '--json']
    const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    const [line] = await once(createInterface(child.stdout), 'line')
    child.kill('SIGTERM')
    await exit
    return JSON.parse(String(line)) as { setup_code?: string }
  }
  const first = await start()
  assert.match(first.setup_code!, /^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/)
  const second = await start()
  assert.notEqual(second.setup_code, first.setup_code)
  for (const name of readdirSync(data).filter((name) => name.startsWith('nightjar.db'))) {
    assert.ok(!readFileSync(join(data, name), 'latin1').includes(second.setup_code!), name)
  }
  await succeed(['user', 'add', '--email', 'ada@example.org', '--password-stdin'], 'hairy otters sing\n')
  assert.equal((await start()).setup_code, undefined)
})

test('second factors are shown and can be removed, and owners can be required to have one', async (t) => {
  const { run, succeed, withStore } = await open(t)
  await succeed(['user', 'add', '--email', 'ada@example.org', '--password-stdin'], 'hairy otters sing\n')
  const none = { id: 1, app_added_at: null, passkeys: [], recovery_codes_left: 0 }
  assert.deepEqual(await succeed(['user', 'second-factor', 'ada@example.org']), none)
  await withStore(async (store) => {
    const sessions = new Sessions({ rows: store.sessions, clock: systemClock, log: silentLogger })
    const user = await store.users.get(1)
    const { id: sessionId } = await sessions.start(user, { ip: '192.0.2.1', userAgent: 'Browser' })
    const changer = { userId: 1, credentialsVersion: user.credentialsVersion, sessionId }
    const passkey = { id: 'key', name: 'Phone', publicKey: randomBytes(40), counter: 0, transports: [] }
    await store.secondFactors.addPasskey(changer, passkey, [randomBytes(32), randomBytes(32)])
  })
  const shown = await succeed(['user', 'second-factor', '1'])
  assert.deepEqual([shown.passkeys[0].name, shown.passkeys.length, shown.recovery_codes_left], ['Phone', 1, 2])
  const [listed] = (await succeed(['user', 'list'])).users
  assert.equal(listed.has_second_factor, true)
  const [session] = (await succeed(['session', 'list', '1'])).sessions
  assert.match(session.second_factor_at, /Z$/)
  assert.deepEqual(await succeed(['user', 'remove-second-factor', 'ada@example.org']), { id: 1, removed: true })
  assert.deepEqual(await succeed(['user', 'second-factor', '1']), none)
  assert.deepEqual((await succeed(['session', 'list', '1'])).sessions, [])
  assert.equal((await run(['user', 'remove-second-factor', '99'])).code, 1)
  for (const [words, required] of [
    [[], 'owners'],
    [['--undo'], 'nobody'],
  ] as const) {
    const printed = await succeed(['user', 'require-second-factor', ...words])
    assert.deepEqual(printed, { second_factor_required: required })
    assert.equal(await withStore((store) => store.settings.isSecondFactorRequired()), required === 'owners')
  }
  const events = await withStore((store) => store.audit.list(undefined, { limit: 10, offset: 0 }))
  const expected = ['settings.changed', 'settings.changed', 'second_factor.removed', 'user.created']
  assert.deepEqual(
    events.map(({ event }) => event),
    expected,
  )
})
