// Commands for guests, on a real data folder.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../../test/support/command-line.ts'

async function open(t: TestContext, variables: Record<string, string> = {}) {
  const data = await mkdtemp(join(tmpdir(), 'nightjar-cli-'))
  t.after(() => rm(data, { recursive: true }))
  const env = { PATH: process.env.PATH, NIGHTJAR_DATA: data, ...variables }
  const run = (...words: string[]) => runCommand(words, { env })
  const succeed = async (...words: string[]) => {
    const { code, stderr, json } = await run(...words, '--json')
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    return json
  }
  const addUser = (email: string) => succeed('user', 'add', '--email', email, '--password', 'correct horse')
  await addUser('ada@example.com')
  const camera = ['--user', 'ada@example.com', '--name', 'Door', '--url', 'rtsp://camera.example/1']
  const { id } = await succeed('camera', 'add', ...camera)
  const outbox = async () => {
    const files = await readdir(join(data, 'outbox')).catch(() => [])
    return Promise.all(files.map((file) => readFile(join(data, 'outbox', file), 'utf8')))
  }
  return { data, run, succeed, addUser, outbox, cameraId: id as number, ofCamera: ['--camera', String(id)] }
}

test('a guest is invited with a mail, listed, changed and removed', async (t) => {
  const { data, run, succeed, addUser, outbox, cameraId, ofCamera } = await open(t, {
    NIGHTJAR_PUBLIC_URL: 'https://cameras.example.com',
  })
  assert.match((await run('guest', 'list', ...ofCamera)).stdout, /The camera has no guests/)
  const bob = await succeed('guest', 'add', ...ofCamera, '--email', 'Bob@example.com', '--recordings')
  assert.deepEqual(bob, {
    id: bob.id,
    email: 'Bob@example.com',
    first_name: null,
    last_name: null,
    permissions: { can_view_rec: true, share_notifications: false },
    camera_id: cameraId,
    user_id: null,
    created_at: bob.created_at,
    opened_at: null,
    mail: 'sent',
  })
  const [mail] = await outbox()
  assert.match(mail!.replaceAll('=\n', ''), /https:\/\/cameras\.example\.com\/invitation\/\?token=3?D?njln_/)

  const { link } = await succeed('guest', 'link', ...ofCamera, 'bob@example.com')
  assert.match(link, /^https:\/\/cameras\.example\.com\/invitation\/\?token=njln_\w{49}$/)
  const eve = await addUser('eve@example.com')
  const address = ['--public-url', 'https://elsewhere.example.com']
  const { code, stdout } = await run('guest', 'add', ...ofCamera, '--email', 'eve@example.com', ...address)
  assert.equal(code, 0)
  assert.ok(stdout.includes(`Door. No mail server is configured (smtp-url): the mail is in ${join(data, 'outbox')}.`))
  assert.match(stdout, /It leads to https:\/\/elsewhere\.example\.com\.$/m)
  const refused = await run('guest', 'link', ...ofCamera, 'eve@example.com')
  assert.match(refused.stderr, /eve@example\.com has an account/)
  const { mail: _mail, ...kept } = bob
  const { guests } = await succeed('guest', 'list', ...ofCamera)
  assert.deepEqual([guests.length, guests[0], guests[1].user_id], [2, kept, eve.id])

  const changed = await succeed('guest', 'set', 'BOB@example.com', ...ofCamera, '--notifications', 'yes')
  assert.deepEqual(changed.permissions, { can_view_rec: true, share_notifications: true })
  const narrowed = await run('guest', 'set', String(bob.id), ...ofCamera, '--recordings', 'no')
  assert.match(narrowed.stdout, /may not see recordings and is notified of events/)
  const list = (await run('guest', 'list', ...ofCamera)).stdout
  assert.match(list, /Bob@example\.com +no +yes +no account yet/)
  assert.match(list, /eve@example\.com +no +no +not looked yet/)

  assert.deepEqual(await succeed('guest', 'remove', 'eve@example.com', ...ofCamera), {
    id: guests[1].id,
    removed: true,
  })
  assert.equal((await succeed('guest', 'list', ...ofCamera)).guests.length, 1)
  const { events } = await succeed('audit', 'list', '--user', 'ada@example.com')
  const ofGuests = events.filter(({ event }: { event: string }) => event.startsWith('guest.'))
  assert.deepEqual(
    ofGuests.map(({ event, subject }: { event: string; subject: string }) => `${event} ${subject}`),
    [
      'guest.removed eve@example.com',
      'guest.changed Bob@example.com',
      'guest.changed Bob@example.com',
      'guest.invited eve@example.com',
      'guest.link_created Bob@example.com',
      'guest.invited Bob@example.com',
    ],
  )
})

test('impossible changes are reported', async (t) => {
  const { run, succeed, ofCamera, outbox } = await open(t, { NIGHTJAR_SIGN_UP: 'closed' })
  const { stdout } = await run('guest', 'add', ...ofCamera, '--email', 'bob@example.com')
  assert.match(stdout, /No mail was sent: the share waits until an owner makes an account/)
  assert.deepEqual(await outbox(), [])
  const wrong: [number, RegExp, string[]][] = [
    [2, /--camera/, ['list']],
    [1, /no camera 9/, ['list', '--camera', '9']],
    [2, /--email/, ['add', ...ofCamera]],
    [1, /valid email/, ['add', ...ofCamera, '--email', 'bob']],
    [1, /already belongs to a guest/, ['add', ...ofCamera, '--email', 'BOB@example.com']],
    [1, /cannot invite yourself/, ['add', ...ofCamera, '--email', 'ada@example.com']],
    [2, /--recordings or --notifications/, ['set', 'bob@example.com', ...ofCamera]],
    [1, /expected yes or no/, ['set', 'bob@example.com', ...ofCamera, '--recordings', 'maybe']],
    [1, /no guest eve@example\.com/, ['set', 'eve@example.com', ...ofCamera, '--recordings', 'yes']],
    [1, /no guest 99/, ['remove', '99', ...ofCamera]],
  ]
  await Promise.all(
    wrong.map(async ([code, message, words]) => {
      const outcome = await run('guest', ...words)
      assert.deepEqual(
        [outcome.code, message.test(outcome.stderr)],
        [code, true],
        `${words.join(' ')}: ${outcome.stderr}`,
      )
    }),
  )
  assert.equal((await succeed('guest', 'list', ...ofCamera)).guests.length, 1)
})

test('an unreachable mail server is reported, and the guest is added anyway', async (t) => {
  const { run, succeed, ofCamera } = await open(t, { NIGHTJAR_SMTP_URL: 'smtp://127.0.0.1:1' })
  const { code, stdout } = await run('guest', 'add', ...ofCamera, '--email', 'bob@example.com', '--json')
  assert.deepEqual([code, JSON.parse(stdout).mail], [1, 'failed'])
  assert.equal((await succeed('guest', 'list', ...ofCamera)).guests.length, 1)
})
