// The command line on a real data folder: in the process of the test, and by the launcher where the launcher matters.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type CommandOutcome, runCommand } from '../../test/support/command-line.ts'
import { hashToken } from '../auth/checked-token.ts'
import { isChecksumValid } from '../auth/personal-token.ts'
import { openSecretKey } from '../auth/secret-key.ts'
import { databaseFile } from '../store/engine/database-file.ts'
import { openStore } from '../store/store.ts'
import { parseWords } from './command-line.ts'
import { serveCommand } from './serve-command.ts'

const launcher = fileURLToPath(new URL('../../nightjar', import.meta.url))

async function createCommandLine(t: TestContext) {
  const data = await mkdtemp(join(tmpdir(), 'nightjar-cli-'))
  t.after(() => rm(data, { recursive: true }))
  /** `program`: runs this file as a process. */
  const run = (words: string, { program = '', input = '', extra = [] as string[] } = {}): Promise<CommandOutcome> => {
    const env = { PATH: process.env.PATH, NIGHTJAR_DATA: data }
    const args = [...words.split(' ').filter((word) => word !== ''), ...extra]
    if (program === '') return runCommand(args, { env, input })
    return new Promise((resolve) => {
      const child = execFile(program, args, { env, cwd: tmpdir() }, (error, stdout, stderr) => {
        const json = stdout.startsWith('{') ? JSON.parse(stdout) : {}
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr, json })
      })
      child.stdin!.end(input)
    })
  }
  const succeed = async (words: string, options?: Parameters<typeof run>[1]) => {
    const outcome = await run(words, options)
    assert.equal(outcome.code, 0, `${words}: ${outcome.stderr}`)
    assert.equal(outcome.stderr, '')
    return outcome
  }
  return { data, run, succeed }
}

test('the commands printed at the first start create an owner, a token and cameras', async (t) => {
  const { data, run, succeed } = await createCommandLine(t)
  assert.match((await run('user list')).stderr, /there is no Nightjar data in .*--data/)

  const ada = 'user add --email Ada@example.org --first-name Ada --last-name Byron --id 41 --json --password-stdin'
  const { json: user } = await succeed(ada, { program: launcher, input: 'correct-horse' })
  assert.deepEqual([user.id, user.email, user.first_name, user.disabled_at], [41, 'Ada@example.org', 'Ada', null])
  assert.match(
    (await succeed('user add --email bob@example.org --password-stdin', { input: 'p q w 1 2 3\n' })).stdout,
    /user 42/,
  )
  const users = (await succeed('user list --json')).json.users
  assert.deepEqual(
    users.map((each: { email: string }) => each.email),
    ['Ada@example.org', 'bob@example.org'],
  )
  assert.match((await run(ada, { input: 'correct-horse' })).stderr, /already an account/)

  const { stdout: printed } = await succeed('token create --user ada@EXAMPLE.org', { program: launcher })
  assert.ok(isChecksumValid(printed.trim()))
  const brought = '0123456789abcdef0123456789abcdef01234567'
  const token = (
    await succeed('token create --user 41 --name phone --value-stdin --json', {
      extra: ['--scope', 'read write'],
      input: brought,
    })
  ).json
  assert.deepEqual([token.token, token.scope, token.name, token.user_id], [brought, 'read write', 'phone', 41])
  const list = await succeed('token list')
  assert.match(list.stdout, /…4567 +Ada@example.org +phone +read write +never/)
  assert.ok(!list.stdout.includes(brought))

  const url = 'rtsp://admin@192.168.1.20/stream1 --password-stdin'
  const door = (
    await succeed(`camera add --user 41 --name Door --url ${url} --record P7D --id 7 --json`, { input: 'hunter2' })
  ).json
  assert.deepEqual(
    [door.id, door.url, door.has_credentials, door.recording.retention],
    [7, 'rtsp://192.168.1.20/stream1', true, 'P7D'],
  )
  assert.equal(
    (await succeed('camera add --user bob@example.org --url rtsp://h/ --json', { extra: ['--name', 'Back yard'] })).json
      .id,
    8,
  )
  assert.match(
    (await succeed('camera list')).stdout,
    /^7 +Door +unknown +READY P7D +rtsp:\/\/192\.168\.1\.20\/stream1$/m,
  )
  assert.equal((await succeed('camera list --user 41 --json')).json.cameras.length, 1)
  assert.equal((await succeed('camera record 8 --retention PT12H --json')).json.recording.retention, 'PT12H')
  assert.equal((await succeed('camera record 8 --off --json')).json.recording, null)
  assert.deepEqual((await succeed('check --json')).json.ok, true)

  await succeed('camera remove 8')
  await succeed(`token revoke ${token.id}`)
  assert.notEqual((await succeed('user disable bob@example.org --json')).json.disabled_at, null)
  assert.equal((await succeed('user disable bob@example.org --undo --json')).json.disabled_at, null)

  const key = (await openSecretKey(data)).deriveKey('camera credentials')
  await using store = await openStore({ database: databaseFile(data), credentialsKey: key, foreignIntervalMs: 0 })
  const [camera, ...others] = await store.cameras.list()
  assert.deepEqual([camera?.username, camera?.password, others.length], ['admin', 'hunter2', 0])
  assert.equal(await store.tokens.findLiveByHash(hashToken(brought)), undefined)
  assert.notEqual(await store.tokens.findLiveByHash(hashToken(printed.trim())), undefined)
  for (const name of readdirSync(data)) {
    const bytes = readFileSync(join(data, name), 'latin1')
    for (const secret of ['hunter2', 'correct-horse', brought, printed.trim()]) assert.ok(!bytes.includes(secret), name)
  }
})

test('usage errors exit with 2 and failures with 1, with a reason and optionally as JSON', async (t) => {
  const { run, succeed } = await createCommandLine(t)
  await succeed('user add --email a@x --password-stdin', { input: 'hairy-otter' })
  const cases: [string, number, RegExp][] = [
    ['frobnicate', 2, /there is no command "frobnicate"/],
    ['user frobnicate', 2, /only add, list, passwd, sign-out, owner, limit, disable, remove/],
    ['user list --frobnicate', 2, /Unknown option '--frobnicate'/],
    ['user list extra', 2, /"extra" is not expected/],
    ['user add --email', 2, /--email <value>' argument missing/],
    ['user add', 2, /--email is missing/],
    ['user add --email b@x', 2, /--password/],
    ['user add --email b@x --password 1 --password-stdin', 2, /cannot be used together/],
    ['user add --email b@x --password short', 1, /8 to 256/],
    ['user add --email A@X --password hairy-otter', 1, /nightjar: [^:]*A@X[^:]*\n$/],
    ['user add --email nobody --password hairy-otter', 1, /valid email/],
    ['user add --email b@x --password hairy-otter --id 0', 1, /--id/],
    ['user disable 9', 1, /there is no user 9/],
    ['token create --user a@x --scope everything', 1, /"everything" is not a scope/],
    ['token create --user a@x --value short', 1, /20 to 256/],
    ['token revoke x', 1, /there is no token x/],
    ['camera add --user a@x --name A --url ftp://h/', 1, /must begin with rtsp/],
    ['camera add --user a@x --name A --url rtsp://169.254.169.254/x', 1, /URL of this camera is not allowed/],
    ['camera add --user a@x --name A --url http://h:6379/', 1, /port 6379 is not allowed/],
    ['camera add --user a@x --name A --url rtsp://h/ --record 7', 1, /P7D/],
    ['camera add --user a@x --name A --url rtsp://h/ --record P0D', 1, /P7D/],
    ['camera record 1', 2, /--retention, --max-size, --local or several, or --off/],
    ['camera remove 1', 1, /there is no camera 1/],
    ['user list --data /dev/null/x', 1, /there is no Nightjar data/],
    ['serve --port x --workers 0', 1, /--port.*\n.*--workers/],
  ]
  await Promise.all(
    cases.map(async ([words, code, reason]) => {
      const outcome = await run(words)
      assert.deepEqual([outcome.code, outcome.stdout], [code, ''], `${words}: ${outcome.stderr}`)
      assert.match(outcome.stderr, reason, words)
      assert.doesNotMatch(outcome.stderr, /\n +at |constraint|duplicate key/i, words)
    }),
  )
  // The process ends with the code that the command has.
  assert.equal((await run('frobnicate', { program: launcher })).code, 2)
  const outcome = await run('camera remove 1 --json', { program: launcher })
  assert.equal(outcome.code, 1)
  assert.deepEqual(outcome.json, { error: { kind: 'not_found', message: 'there is no camera 1' } })
})

test('--help works for every command, from any folder and through links', async (t) => {
  const { data, succeed } = await createCommandLine(t)
  const overview = (await succeed('--help')).stdout
  const listed = overview.split('Commands:\n')[1]!.split('\n\n')[0]!.split('\n')
  const names = [...overview.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?) /gm)].map((match) => match[1]!)
  assert.equal(names.length, listed.length)
  assert.ok(names.length > 25 && names.includes('user sign-out') && names.includes('serve'), String(names))
  await Promise.all(
    names.map(async (name) =>
      assert.match((await succeed(`${name} --help`)).stdout, new RegExp(`Usage: nightjar ${name}`)),
    ),
  )
  assert.match((await succeed('', { program: launcher })).stdout, /Usage/)
  assert.match((await succeed('--version', { program: launcher })).stdout, /^\d+\.\d+\.\d+\n$/)
  await symlink(launcher, join(data, 'first'))
  await symlink('first', join(data, 'second link'))
  assert.match((await succeed('user --help', { program: join(data, 'second link') })).stdout, /user add/)
})

test('a switch whose name begins with "no" is turned on, and off, as its name says', () => {
  const read = (...args: string[]) => ({ ...parseWords(serveCommand, args).values })
  assert.deepEqual(read('--no-password-grant', '--no-cameras'), { 'no-password-grant': true, 'no-cameras': true })
  assert.deepEqual(read('--no-no-cameras', '--no-behind-proxy'), { 'no-cameras': false, 'behind-proxy': false })
  assert.throws(() => read('--no-such-thing'), /Unknown option/)
})
