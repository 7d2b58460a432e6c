import assert from 'node:assert/strict'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import type { Store } from '../store.ts'

const at = (subject: string, issuer = 'https://id.example') => ({ issuer, subject, email: `${subject}@id.example` })
const isUsable = () => true

async function addUser({ users }: Store, email: string, passwordHash = 'hash') {
  return users.insert({ email, firstName: 'Ada', lastName: '', passwordHash })
}

testEachDatabase(
  'identities: one person one account, one account one person of an issuer',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { identities } = store
    const [ada, eve] = [await addUser(store, 'ada@x'), await addUser(store, 'eve@x')]
    assert.equal(await identities.link(ada, at('1')), true)
    assert.equal(await identities.link(ada, at('1')), false)
    await assert.rejects(identities.link(eve, at('1')), { kind: 'conflict', fault: 'identity_taken' })
    await assert.rejects(identities.link(ada, at('2')), { kind: 'conflict', fault: 'identity_other' })
    assert.equal(await identities.link(ada, at('1', 'https://other.example')), true)
    assert.equal((await identities.find(at('1')))?.user.id, ada.id)
    assert.equal(await identities.find(at('1 ')), undefined)
    assert.equal(await identities.find({ ...at('2'), email: at('1').email }), undefined)
    const [first, second] = await identities.list(ada.id)
    assert.deepEqual([first!.issuer, first!.subject, first!.usedAtMs], ['https://id.example', '1', null])
    await identities.noteUse(first!.id, 'new@id.example')
    const noted = (await identities.list(ada.id))[0]!
    assert.equal(noted.email, 'new@id.example')
    assert.ok(noted.usedAtMs! > 0)
    await assert.rejects(identities.unlink(eve.id, first!.id, { isUsable }), { kind: 'not_found' })
    await identities.unlink(ada.id, first!.id, { isUsable })
    await identities.unlink(ada.id, second!.id, { isUsable })
    assert.deepEqual(await identities.list(ada.id), [])
    assert.equal(await identities.link(eve, at('1')), true)
    await store.accounts.remove(eve.id, { withCameras: false })
    assert.equal(await identities.find(at('1')), undefined)
  },
)

testEachDatabase('identities: what is linked at once is linked once', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { identities } = store
  const users = [await addUser(store, 'ada@x'), await addUser(store, 'eve@x')]
  const settled = await Promise.allSettled(
    users.flatMap((user) => Array.from({ length: 5 }, () => identities.link(user, at('1')))),
  )
  const made = settled.filter((each) => each.status === 'fulfilled' && each.value)
  assert.equal(made.length, 1)
  for (const each of settled)
    if (each.status === 'rejected') assert.equal(each.reason.kind, 'conflict', String(each.reason))
})

testEachDatabase('identities: the last way in stays, of two that go at once too', async (t, { openStore }) => {
  const { store } = await openStore(t)
  const { identities } = store
  await addUser(store, 'owner@x')
  const ada = await identities.addUser({ email: 'ada@x', firstName: '', lastName: '' }, at('1'), false)
  assert.deepEqual([ada.isOwner, await store.users.hasPassword(ada.id)], [false, false])
  await identities.link(ada, at('1', 'https://other.example'))
  const [first, second] = await identities.list(ada.id)
  // An issuer that is no longer configured signs nobody in.
  const onlyFirst = (issuer: string) => issuer === 'https://id.example'
  await assert.rejects(identities.unlink(ada.id, first!.id, { isUsable: onlyFirst }), { fault: 'last_way_in' })
  const settled = await Promise.allSettled(
    [first!, second!].map(({ id }) => identities.unlink(ada.id, id, { isUsable })),
  )
  assert.deepEqual(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const [left] = await identities.list(ada.id)
  await assert.rejects(identities.unlink(ada.id, left!.id, { isUsable }), { fault: 'last_way_in' })
  await store.accounts.change(ada.id, { passwordHash: 'hash' })
  await identities.unlink(ada.id, left!.id, { isUsable })
})

testEachDatabase(
  'identities: to unlink ends the other sessions, and what was proved before',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { identities, sessions } = store
    const ada = await addUser(store, 'ada@x')
    await identities.link(ada, at('1'))
    const session = {
      userId: ada.id,
      createdAtMs: 1,
      seenAtMs: 1,
      passwordAtMs: 1,
      ip: '',
      userAgent: null,
      secondFactorAtMs: null,
      secondFactor: null,
      needsSecondFactor: false,
    }
    const insert = (id: string, credentialsVersion: number) =>
      sessions.insert({ ...session, id, hash: Buffer.from(id), credentialsVersion })
    await insert('own', ada.credentialsVersion)
    await insert('other', ada.credentialsVersion)
    const { user } = (await identities.find(at('1')))!
    const { id } = (await identities.list(ada.id))[0]!
    const { user: after } = await identities.unlink(ada.id, id, { isUsable, exceptSessionId: 'own' })
    assert.deepEqual(
      (await sessions.list(ada.id)).map((each) => each.id),
      ['own'],
    )
    await assert.rejects(insert('late', user.credentialsVersion), { kind: 'unauthenticated' })
    await assert.rejects(identities.link(user, at('1')), { kind: 'unauthenticated' })
    assert.deepEqual(after, await store.users.get(ada.id))
    await insert('new', after.credentialsVersion)
  },
)

testEachDatabase(
  'identities: an invitation is for its address, good once, and only while who sent it may',
  async (t, { openStore }) => {
    const { store } = await openStore(t)
    const { identities, links } = store
    await assert.rejects(identities.addUser({ email: 'a@x', firstName: '', lastName: '' }, at('1'), false), {
      fault: 'set_up_not_yet',
    })
    const owner = await addUser(store, 'owner@x')
    const inviter = await addUser(store, 'eve@x')
    const add = (email: string, subject: string) =>
      identities.addUser({ email, firstName: '', lastName: '' }, at(subject), true)
    const invite = (name: string, from: number | null, expiresAtMs = Date.now() + 60_000) =>
      links.insert({ kind: 'invitation', hash: Buffer.from(name), email: 'Guest@x', inviterId: from, expiresAtMs })
    await invite('own', null)
    await invite('old', owner.id, 1)
    assert.equal(await identities.isInvited('guest@x'), false)
    await assert.rejects(add('guest@x', '1'), { kind: 'forbidden' })
    await invite('good', inviter.id)
    assert.equal(await identities.isInvited('guest@X'), true)
    await assert.rejects(add('other@x', '1'), { kind: 'forbidden' })
    await store.accounts.change(inviter.id, { isDisabled: true })
    assert.equal(await identities.isInvited('guest@x'), false)
    await invite('again', owner.id)
    const settled = await Promise.allSettled(['1', '2', '3'].map((subject) => add('guest@x', subject)))
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal(await identities.isInvited('guest@x'), false)
    await assert.rejects(add('owner@x', '9'), { fault: 'account_exists' })
  },
)
