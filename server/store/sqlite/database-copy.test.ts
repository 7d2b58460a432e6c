import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { access, copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../../test/support/command-line.ts'
import { openStore, type Store } from '../store.ts'

const launcher = fileURLToPath(new URL('../../../nightjar', import.meta.url))

async function openFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-copy-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const credentialsKey = randomBytes(32)
const open = (database: string) => openStore({ database, credentialsKey, foreignIntervalMs: 0 })

async function addUsers(store: Store, count: number): Promise<void> {
  const before = await store.users.count()
  for (let i = before; i < before + count; i++)
    await store.users.insert({ email: `${i}@example.com`, firstName: '', lastName: '', passwordHash: '!' })
}

/** What a killed server leaves: the file and its log, in a folder of its own. */
async function kill(database: string, folder: string): Promise<string> {
  await mkdir(folder)
  const left = join(folder, 'nightjar.db')
  for (const end of ['', '-wal']) await copyFile(`${database}${end}`, `${left}${end}`)
  return left
}

const copies: Record<string, (from: string, to: string) => Promise<unknown>> = {
  'nightjar backup': async (from, to) => {
    const { code, stderr } = await runCommand(['backup', to, '--data', dirname(from)])
    assert.equal(code, 0, stderr)
  },
  '.backup of sqlite3': async (from, to) => {
    using source = new DatabaseSync(from)
    await backup(source, to)
  },
}

for (const [name, copy] of Object.entries(copies)) {
  test(`a copy by ${name} that replaces the database of a killed server is what the next start finds`, async (t) => {
    const folder = await openFolder(t)
    const original = join(folder, 'nightjar.db')
    await using store = await open(original)
    await addUsers(store, 10)
    await copy(original, join(folder, 'copy.db'))
    await addUsers(store, 60)
    const database = await kill(original, join(folder, 'killed'))
    await copyFile(join(folder, 'copy.db'), database)
    const restored = await open(database)
    assert.equal(await restored.users.count(), 10)
    await access(`${database}-wal.replaced`)

    // Its own log is never taken for another's.
    await addUsers(restored, 5)
    const again = await kill(database, join(folder, 'again'))
    await restored.close()
    await using last = await open(again)
    assert.equal(await last.users.count(), 15)
    assert.deepEqual(
      (await readdir(join(folder, 'again'))).filter((each) => /replaced|copy-lock/.test(each)),
      [],
    )
  })
}

test('a new database whose first server was killed keeps its log', async (t) => {
  const folder = await openFolder(t)
  const original = join(folder, 'nightjar.db')
  await using store = await open(original)
  await addUsers(store, 3)
  await using found = await open(await kill(original, join(folder, 'killed')))
  assert.equal(await found.users.count(), 3)
})

test('processes that open a restored copy at once do not take the log of each other', async (t) => {
  const folder = await openFolder(t)
  await using store = await open(join(folder, 'nightjar.db'))
  await addUsers(store, 10)
  const database = join(folder, 'copy.db')
  await copies['nightjar backup']!(join(folder, 'nightjar.db'), database)
  await writeFile(`${database}-wal`, 'of another database')
  const opened = await Promise.all(Array.from({ length: 5 }, () => open(database)))
  // One after the other: SQLite waits for another connection without letting it go on.
  for (const each of opened) await addUsers(each, 1)
  assert.deepEqual(await Promise.all(opened.map((each) => each.users.count())), [15, 15, 15, 15, 15])
  for (const each of opened) await each.close()
})

test('a backup ends while a server commits all the time, and does not hold it up', async (t) => {
  const folder = await openFolder(t)
  const database = join(folder, 'nightjar.db')
  await using store = await open(database)
  await addUsers(store, 200)
  const target = join(folder, 'backup.db')
  await writeFile(target, '')
  const child = execFile(launcher, ['backup', target, '--json', '--data', folder])
  let [output, isDone] = ['', false]
  child.stdout!.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').finally(() => (isDone = true))
  let commits = 0
  while (!isDone) {
    // Fails if it has to wait for a lock for five seconds.
    await addUsers(store, 1)
    commits++
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.deepEqual(await ended, [0, null])
  assert.ok(commits > 3, String(commits))
  assert.deepEqual([JSON.parse(output).file, (await stat(target)).mode & 0o777], [target, 0o600])
  using copy = new DatabaseSync(target, { readOnly: true })
  const { n } = copy.prepare('select count(*) n from users').get() as { n: number }
  assert.ok(n >= 200 && n <= 200 + commits, String(n))
})

test('a backup is refused that would overwrite something else, and leaves what was there', async (t) => {
  const folder = await openFolder(t)
  const database = join(folder, 'nightjar.db')
  const store = await open(database)
  await addUsers(store, 1)
  await store.close()
  const run = (target: string, ...more: string[]) => runCommand(['backup', target, '--data', folder, ...more])
  await writeFile(join(folder, 'letter.txt'), 'Dear Ada')
  const cases: [string, RegExp][] = [
    [database, /is the database itself: name another file/],
    [join(folder, 'letter.txt'), /is no database: name another file/],
    [join(folder, 'missing', 'backup.db'), /there is no folder .*missing: create it first/],
  ]
  for (const [target, message] of cases) {
    const { code, stderr } = await run(target)
    assert.notEqual(code, 0)
    assert.match(stderr, message)
  }
  const env = { NIGHTJAR_DATABASE: 'postgres://a@127.0.0.1/b' }
  assert.match((await runCommand(['backup', join(folder, 'x.db')], { env })).stderr, /pg_dump/)
  await mkdir(join(folder, 'backups'))
  assert.equal((await run(join(folder, 'backups'), '--json')).json.file, join(folder, 'backups', 'nightjar.db'))
  assert.equal((await run(join(folder, 'backups'))).code, 0, 'every night')
  assert.deepEqual(await readdir(join(folder, 'backups')), ['nightjar.db'])
})
