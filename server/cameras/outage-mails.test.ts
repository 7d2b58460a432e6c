import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../test/support/store/temporary-store.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { silentLogger } from '../base/log.ts'
import { checkMail, type Mail } from '../model/mail.ts'
import { OutageMails } from './outage-mails.ts'

const startMs = Date.UTC(2030, 0, 1, 12, 30)
const minute = 60_000
const source = { type: 'h264', url: 'rtsp://h/1', username: null, password: null } as const

async function open(t: TestContext, names = ['Door', 'Yard']) {
  const clock = new TestClock(startMs)
  const { store } = await openTemporaryStore(t, { clock })
  const addUser = (email: string) => store.users.insert({ email, firstName: 'A', lastName: 'B', passwordHash: '!' })
  const owner = await addUser('ada@example.com')
  const addCamera = async (name: string, ownerId = owner.id) =>
    (await store.cameras.insert({ ...source, name, ownerId })).id
  const ids = await Promise.all(names.map((name) => addCamera(name)))
  const sent: Mail[] = []
  const send = async (mail: Mail) => {
    checkMail(mail)
    sent.push(mail)
  }
  const mails = new OutageMails({
    ...{ store, clock, log: silentLogger },
    mailer: { send },
    publicUrl: 'https://cam.example',
  })
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10_000) {
      await clock.advance(10_000)
      mails.look()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return { store, owner, ids, sent, mails, pass, addUser, addCamera }
}

test('an outage that lasts is mailed once, with its camera, its time and its reason', async (t) => {
  const { ids, sent, mails, pass } = await open(t)
  mails.begin(ids[0]!, 'offline', { sinceMs: startMs, detail: 'The camera does not respond.' })
  await pass(minute / 2)
  assert.deepEqual(sent, [])
  await pass(2 * 60 * minute)
  assert.equal(sent.length, 1)
  const { to, subject, text } = sent[0]!
  assert.deepEqual([to, subject], ['ada@example.com', 'A camera is offline'])
  assert.match(text, /^The camera “Door” has been offline since 2030-01-01 12:30 UTC\. The camera does not respond\.\n/)
  assert.match(text, /https:\/\/cam\.example\/settings\/profile\n$/)
})

test('cameras that fail together are in one mail, and what is over by then in none', async (t) => {
  const { ids, sent, mails, pass } = await open(t, ['Door', 'Yard', 'pay at evil.example', 'Hall'])
  for (const id of ids) mails.begin(id, 'recording', { sinceMs: startMs, detail: 'The disk is full.' })
  mails.begin(ids[1]!, 'offline', { sinceMs: startMs, detail: undefined })
  mails.end(ids[3]!, 'recording')
  await pass(2 * minute)
  assert.equal(sent.length, 1)
  const { subject, text } = sent[0]!
  assert.equal(subject, '3 cameras need attention')
  assert.match(text, /“Door” has not been recorded since/)
  assert.match(text, /^A camera has not been recorded since .*disk is full/m, 'a name that could be a link is left out')
  assert.ok(!text.includes('Hall') && !text.includes('evil'))
})

test('what another server has seen the end of is in no mail', async (t) => {
  const { store, ids, sent, mails, pass } = await open(t, ['Door', 'Yard', 'Hall'])
  const [door, yard, hall] = ids as [number, number, number]
  await store.recordings.enable(door, { retention: 'P1D', maxBytes: null })
  for (const id of ids) mails.begin(id, 'offline', { sinceMs: startMs, detail: undefined })
  mails.begin(door, 'recording', { sinceMs: startMs, detail: 'The disk is full.' })
  for (const id of [door, yard]) mails.release(id)
  await store.recordings.setStatus(door, 'RECORDING', undefined)
  await store.cameras.setStatus(yard, { status: 'offline', reason: 'camera_unreachable' })
  // That of this server is online for a moment.
  for (const id of [door, hall]) await store.cameras.setStatus(id, { status: 'online' })
  await pass(2 * minute)
  assert.deepEqual(
    sent.map(({ text }) => text.match(/“\w+” has \w+ \w+/g)),
    [['“Yard” has been offline', '“Hall” has been offline']],
  )
})

test('a camera that fails again and again does not flood its owner', async (t) => {
  const { ids, sent, mails, pass } = await open(t)
  for (let i = 0; i < 12; i++) {
    mails.begin(ids[0]!, 'offline', { sinceMs: startMs, detail: undefined })
    await pass(4 * minute)
    mails.end(ids[0]!, 'offline')
    await pass(minute)
  }
  assert.ok(sent.length >= 2 && sent.length <= 5, `${sent.length} mails in an hour`)
})

test('each owner gets their own, unless it was turned off or the account is disabled', async (t) => {
  const { store, ids, sent, mails, pass, addUser, addCamera, owner } = await open(t)
  const other = await addUser('eve@example.com')
  const third = await addUser('tim@example.com')
  const cameras = [ids[0]!, await addCamera('Barn', other.id), await addCamera('Shed', third.id)]
  await store.users.update(third.id, { getsOutageMails: false })
  for (const id of cameras) mails.begin(id, 'offline', { sinceMs: startMs, detail: undefined })
  await pass(2 * minute)
  assert.deepEqual(
    sent.map(({ to, text }) => [to, /“(\w+)”/.exec(text)?.[1]]),
    [
      [owner.email, 'Door'],
      [other.email, 'Barn'],
    ],
  )
})
