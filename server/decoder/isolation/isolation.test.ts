// Attacks from a process in the same isolation that the server uses for decoding. Node's permission model does not
// restrict native code, which is simulated by the same program without that model.

import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { protections } from '../../../contract/protections.ts'
import type { Attacked, AttackedOptions } from '../../../test/support/decoder/attacked-server.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { MessageChild } from '../message-child.ts'
import { openIsolation } from './open-isolation.ts'
import type { Attack, AttackOutcomes } from './test-attacks.ts'

const program = fileURLToPath(new URL('../../../test/support/decoder/attacked-server.ts', import.meta.url))
const isRoot = process.getuid?.() === 0

/** Without sandbox support on the system, bubblewrap cannot be tested. */
const { report: here } = await openIsolation({ mode: 'auto' })
const skip = here.level === 'full' ? false : `no sandbox here: ${here.reason}`

/** A user without privileges, as a service might use. Only root can switch to it. */
const ordinaryUser = { uid: 65_533, gid: 65_533 }
const canBeOrdinary =
  isRoot &&
  spawnSync(process.execPath, [fileURLToPath(new URL('./trial-process.ts', import.meta.url))], ordinaryUser).status ===
    0
/** A program in a folder that only root can read, as /root is, cannot be run by another user. */
const staysRoot = isRoot && !canBeOrdinary
const privileges = staysRoot ? [] : (['privileges'] as const)

const users = [
  {
    name: isRoot ? 'root' : 'this user',
    ids: {},
    cannot: staysRoot ? 'only root can read the program, and the report says so' : false,
  },
  {
    name: 'an ordinary user',
    ids: ordinaryUser,
    cannot: canBeOrdinary ? false : 'only root can become another user, which can read the program',
  },
] as const

type Ids = { readonly uid?: number; readonly gid?: number }

async function attack(
  options: Partial<AttackedOptions> & { attacks: readonly Attack[] },
  ids: Ids = {},
): Promise<Attacked> {
  const all: AttackedOptions = { mode: 'auto', isNative: true, memoryBytes: 256 * 1024 * 1024, ...options }
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(all)], { ...ids, cwd: '/' })
  return JSON.parse(stdout) as Attacked
}

const onFiles = [
  'read the secret',
  'list the data folder',
  'read the password file',
  'write into the data folder',
  'write into the program',
  'write a temporary file',
] as const satisfies readonly Attack[]
const onProcesses = [
  'read the environment of the server',
  'read the memory of the server',
  'signal the server',
  'start a process',
] as const satisfies readonly Attack[]
const onNetwork = [
  'connect to a port',
  'connect to a Unix socket',
  'connect to an abstract Unix socket',
  'send a datagram',
] as const satisfies readonly Attack[]
const plain = [...onFiles, ...onProcesses, ...onNetwork]

function assertOutcomes(
  outcomes: Partial<AttackOutcomes>,
  expected: { readonly [outcome: string]: readonly Attack[] },
): void {
  const all = Object.entries(expected).flatMap(([outcome, names]) => names.map((name) => [name, outcome] as const))
  assert.deepEqual(outcomes, Object.fromEntries(all))
}

/** A folder with the tools and this script in place of bubblewrap. */
async function makeToolFolder(
  t: TestContext,
  { names = ['prlimit', 'setpriv', 'choom'], bwrap }: { names?: string[]; bwrap?: string } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-tools-'))
  t.after(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o755)
  for (const name of names) await symlink(`/usr/bin/${name}`, join(folder, name))
  if (bwrap !== undefined) await writeFile(join(folder, 'bwrap'), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 })
  return [folder]
}

type Process = { readonly pid: number; readonly parent: number; readonly words: string }

async function listProcesses(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args=', '-ww'])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, words] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? []
    return words === undefined ? [] : { pid: Number(pid), parent: Number(parent), words }
  })
}

async function listDescendants(pid: number): Promise<Process[]> {
  const all = await listProcesses()
  const below = (of: number): Process[] =>
    all.filter(({ parent }) => parent === of).flatMap((child) => [child, ...below(child.pid)])
  return below(pid)
}

suite('isolation', { concurrency: 2 }, () => {
  for (const { name, ids, cannot } of users) {
    test(`started by ${name}, native code cannot leave the sandbox`, { skip: cannot || skip }, async () => {
      const { report, surroundings, outcomes, end } = await attack({ attacks: plain }, ids)
      assert.deepEqual(report, { level: 'full', inForce: protections, missing: [] })
      assert.equal(end, undefined)
      assertOutcomes(outcomes, {
        ENOENT: [...onFiles.slice(0, 4), 'read the environment of the server', 'read the memory of the server'],
        EROFS: ['write into the program', 'write a temporary file'],
        ESRCH: ['signal the server'],
        EPERM: ['start a process', ...onNetwork],
      })
      assert.deepEqual(surroundings.processes?.length, 2, 'itself and the first process of its namespace')
      assert.deepEqual(surroundings.environment, ['PWD'])
      const kinds = surroundings.descriptors.map((target) => target.replace(/\[.*/, ''))
      assert.equal(kinds.filter((kind) => kind === 'socket:').length, 3, 'standard input, output and error')
      const allowed = new Set(['socket:', 'pipe:', 'anon_inode:', '/dev/null'])
      assert.deepEqual(kinds.filter((kind) => !allowed.has(kind)), []) // biome-ignore format: one line
    })

    test(`started by ${name}, excessive resource use is stopped`, { skip: cannot || skip }, async () => {
      const run = async (name: Attack, memoryBytes?: number) =>
        (await attack({ attacks: [name], ...(memoryBytes && { memoryBytes }) }, ids)).outcomes[name]
      assert.equal(await run('open a thousand files'), 'EMFILE')
      assert.match((await run('fill the memory'))!, /^(ended|ERR_MEMORY_ALLOCATION_FAILED)$/)
      // Their stacks would not fit into the usual memory limit.
      assert.equal(await run('start two hundred threads', 8 * 1024 ** 3), 'ended')
    })
  }

  test('the sandbox of a program that only root can read has no limit of threads, and the report lists what is missing', {
    skip: staysRoot ? skip : 'other users can read the program',
  }, async () => {
    const { report, outcomes } = await attack({ attacks: plain })
    assert.deepEqual([report.level, report.missing], ['full', ['threads', 'privileges']])
    assert.match(report.reason!, /^the user "nobody" cannot run the program: .*Permission denied$/)
    assert.match(report.advice!, /install the program in a folder that all users can read/)
    assert.equal(Object.values(outcomes).includes('done'), false)
  })

  test('JavaScript is restricted by the permission model before the sandbox', { skip }, async () => {
    const { surroundings, outcomes } = await attack({ isNative: false, attacks: [...plain, 'start a worker'] })
    assertOutcomes(outcomes, {
      ERR_ACCESS_DENIED: [...onFiles, ...onProcesses.filter((name) => name !== 'signal the server'), 'start a worker'],
      ESRCH: ['signal the server'],
      EPERM: onNetwork,
    })
    assert.equal(surroundings.processes, undefined)
  })

  test('without bubblewrap, the permission model restricts JavaScript, and the report lists what is missing', async (t) => {
    const toolFolders = await makeToolFolder(t)
    const { report, surroundings, outcomes } = await attack({
      toolFolders,
      isNative: false,
      attacks: [...plain, 'start a worker'],
    })
    assert.equal(report.level, 'partial')
    assert.deepEqual(report.inForce, ['memory', ...privileges, 'permission_model'])
    assert.deepEqual(
      report.missing,
      protections.filter((name) => !report.inForce.includes(name)),
    )
    assert.deepEqual([report.reason, report.advice], ['bubblewrap (bwrap) is not installed', 'apt install bubblewrap'])
    assert.deepEqual(surroundings.environment, [])
    assertOutcomes(outcomes, {
      ERR_ACCESS_DENIED: [...onFiles, ...onProcesses.filter((name) => name !== 'signal the server'), 'start a worker'],
      ...(canBeOrdinary && { EPERM: ['signal the server'] }),
      done: [...onNetwork, ...(canBeOrdinary ? [] : (['signal the server'] as const))],
    })
  })

  test('without bubblewrap, native code is restricted by resource limits and, if the server is root, by an unprivileged user', async (t) => {
    const toolFolders = await makeToolFolder(t)
    const run = async (name: Attack) => attack({ toolFolders, attacks: [name] })
    assert.equal((await run('open a thousand files')).outcomes['open a thousand files'], 'EMFILE')
    assert.match((await run('fill the memory')).outcomes['fill the memory']!, /^(ended|ERR_MEMORY_ALLOCATION_FAILED)$/)
    assert.equal((await run('write a temporary file')).outcomes['write a temporary file'], 'EFBIG')
    const { surroundings, outcomes } = await run('read the memory of the server')
    if (canBeOrdinary) {
      assert.equal(outcomes['read the memory of the server'], 'EACCES')
      assert.equal(surroundings.userId, 65_534)
    }
  })

  test('when bubblewrap cannot create a sandbox, the report says so and the other protections are used', async (t) => {
    const words = 'bwrap: No permissions to create new namespace'
    const toolFolders = await makeToolFolder(t, { bwrap: `echo '${words}' >&2; exit 1` })
    const { report, outcomes } = await attack({ toolFolders, isNative: false, attacks: ['read the secret'] })
    assert.deepEqual([report.level, report.inForce], ['partial', ['memory', ...privileges, 'permission_model']])
    assert.match(report.reason!, /No permissions to create new namespace/)
    assert.match(report.advice!, /user namespaces/)
    assert.equal(outcomes['read the secret'], 'ERR_ACCESS_DENIED')
  })

  test('when /proc cannot be mounted, as in containers, the sandbox has none', { skip }, async (t) => {
    const refusing = `for each; do [ "$each" != --proc ] || { echo "bwrap: Can't mount proc" >&2; exit 1; }; done; exec bwrap "$@"`
    const toolFolders = await makeToolFolder(t, { bwrap: `PATH=/usr/local/bin:/usr/bin:/bin; ${refusing}` })
    const { report, surroundings, outcomes } = await attack({ toolFolders, attacks: plain })
    assert.equal(report.level, 'full')
    assert.equal(surroundings.processes, undefined)
    assert.equal(Object.values(outcomes).includes('done'), false)
  })

  test('without any tools, the permission model is used', async (t) => {
    const toolFolders = await makeToolFolder(t, { names: [] })
    const { report, outcomes } = await attack({ toolFolders, isNative: false, attacks: ['read the secret'] })
    assert.deepEqual([report.level, report.inForce], ['partial', ['permission_model']])
    assert.equal(outcomes['read the secret'], 'ERR_ACCESS_DENIED')
  })

  test('with isolation off, only the environment is empty', async () => {
    const { report, surroundings, outcomes } = await attack({
      mode: 'off',
      isNative: false,
      attacks: ['read the secret'],
    })
    assert.deepEqual([report.level, report.inForce], ['off', []])
    assert.deepEqual(surroundings.environment, [])
    assert.equal(outcomes['read the secret'], 'done')
  })

  test('with isolation required, weaker isolation is rejected with the reason and advice', async (t) => {
    const toolFolders = await makeToolFolder(t)
    await assert.rejects(
      openIsolation({ mode: 'require', toolFolders }),
      (error) =>
        error instanceof AppError &&
        /network, files.*bwrap\) is not installed.*apt install bubblewrap/.test(error.message),
    )
    if (!skip) assert.equal((await openIsolation({ mode: 'require' })).report.level, 'full')
  })

  test('a process that is stopped during sandbox set-up leaves nothing behind', { skip }, async () => {
    const isolation = await openIsolation({ mode: 'auto' })
    for (let ms = 0; ms < 30; ms++) {
      const child = new MessageChild({
        program: new URL('../decoder-process.ts', import.meta.url),
        isolation,
        memoryBytes: 2 ** 28,
        onMessage() {},
        onExit() {},
      })
      await systemClock.sleep(ms)
      await child.stop()
    }
    const left = (await listDescendants(process.pid)).filter(({ words }) => words.includes('decoder-process'))
    assert.deepEqual(left, [])
  })

  test('a process ends with the server, even if it no longer reads its input', { skip }, async (t) => {
    const options: AttackedOptions = { mode: 'auto', isNative: true, memoryBytes: 2 ** 28, attacks: ['hang'] }
    // The server that is killed cannot remove its files.
    const folder = await mkdtemp(join(tmpdir(), 'nightjar-isolation-'))
    const env = { ...process.env, TMPDIR: folder }
    const server = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: 'ignore', env })
    t.after(() => {
      server.kill('SIGKILL')
      return rm(folder, { recursive: true })
    })
    // Bubblewrap, its first process and the attacker.
    let started: Awaited<ReturnType<typeof listDescendants>> = []
    await until(async () => {
      started = (await listDescendants(server.pid!)).filter(({ words }) => words.includes('test-attacks.ts'))
      return started.length >= 3
    })
    server.kill('SIGKILL')
    await until(async () => {
      const left = await listProcesses()
      return !started.some(({ pid, words }) => left.some((each) => each.pid === pid && each.words === words))
    })
  })
})
