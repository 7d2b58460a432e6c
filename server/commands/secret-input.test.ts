// Secrets are read from standard input or asked for. As arguments they are accepted, with a warning.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../../test/support/command-line.ts'
import type { Command } from './command.ts'
import { readCameraUrl } from './secret-input.ts'

async function openData(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-test-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  return (args: readonly string[], input = '') => {
    return runCommand([...args, ...(args.includes('--help') ? [] : ['--data', dataDir])], { input })
  }
}

test('each secret is read from standard input, and help suggests no secret as an argument', async (t) => {
  const run = await openData(t)
  const made = await run(['user', 'add', '--email', 'ada@example.org', '--password-stdin'], 'hairy otters sing\n')
  assert.deepEqual([made.code, made.stderr], [0, ''])
  const value = 'a token from another server, 1'.replaceAll(' ', '-')
  const token = await run(['token', 'create', '--user', 'ada@example.org', '--value-stdin'], `${value}\n`)
  assert.deepEqual([token.code, token.stderr, token.stdout], [0, '', `${value}\n`])
  const address = ['camera', 'add', '--user', 'ada@example.org', '--name', 'Door', '--url']
  const door = await run([...address, 'rtsp://bob@192.168.1.20/1', '--password-stdin', '--json'], 'hunter2\n')
  assert.deepEqual([door.code, door.stderr, JSON.parse(door.stdout).has_credentials], [0, '', true])
  const yard = await run([...address, '-', '--json'], 'rtsp://bob:hunter2@192.168.1.21/1\n')
  assert.deepEqual([yard.code, yard.stderr, JSON.parse(yard.stdout).has_credentials], [0, '', true])

  for (const command of [
    'user add',
    'user passwd',
    'token create',
    'app add',
    'app rotate',
    'camera add',
    'camera probe',
  ]) {
    const { stdout } = await run([...command.split(' '), '--help'])
    assert.match(stdout, /-stdin /, command)
    assert.doesNotMatch(stdout, /--(password|value|secret) |:password@/, command)
  }
})

test('a secret as an argument is accepted with a warning', async (t) => {
  const run = await openData(t)
  const user = ['user', 'add', '--email', 'ada@example.org']
  const made = await run([...user, '--password', 'hairy otters sing'])
  assert.equal(made.code, 0)
  assert.match(made.stderr, /other users of this machine .* --password: use --password-stdin/)
  assert.ok(!made.stderr.includes('otters'))
  const both = await run([...user, '--password', 'hairy otters sing', '--password-stdin'], 'hairy otters sing')
  assert.equal(both.code, 2)
  const address = [
    'camera',
    'add',
    '--user',
    'ada@example.org',
    '--name',
    'Door',
    '--url',
    'rtsp://bob:hunter2@192.168.1.20/1',
  ]
  const camera = await run(address)
  assert.equal(camera.code, 0)
  assert.match(camera.stderr, /the address: use --password-stdin/)
  assert.ok(!camera.stderr.includes('hunter2'))
  assert.equal((await run([...address, '--password-stdin'], 'x')).code, 2)
})

test('on a terminal, the command asks for the password of the camera, which may be empty', async () => {
  const ask = async (address: string, answer: string | undefined) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const stderr = new PassThrough()
    if (answer !== undefined) stdin.write(`${answer}\n`)
    const terminal = { stdin, stdout: new PassThrough(), stderr }
    const source = await readCameraUrl({ options: {}, switches: new Set(), terminal }, {} as Command, address)
    return { source, asked: String(stderr.read() ?? '') }
  }
  const asked = await ask('rtsp://bob@192.168.1.20:8554/1', 'hunter2')
  assert.match(asked.asked, /^Password of bob at 192\.168\.1\.20:8554: /)
  assert.deepEqual(asked.source, { url: 'rtsp://192.168.1.20:8554/1', username: 'bob', password: 'hunter2' })
  assert.equal((await ask('rtsp://bob@192.168.1.20/1', '')).source.password, '')
  const open = await ask('rtsp://192.168.1.20/1', undefined)
  assert.deepEqual([open.source.username, open.asked], [null, ''])
})
