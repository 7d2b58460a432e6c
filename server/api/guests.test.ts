// Guests of a camera: what clients see, and which emails are sent.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { createTemporaryAccounts, type TemporaryAccounts, tokenIn } from '../../test/support/auth/temporary-accounts.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import type { AccountsOptions } from '../auth/accounts/accounts-options.ts'

const password = 'hairy otters sing'

async function open(t: TestContext, changes: Partial<AccountsOptions> = {}) {
  const clock = new TestClock()
  const held: { accounts?: TemporaryAccounts } = {}
  const temporary = await openTemporaryApi(t, { clock }, (store) => {
    held.accounts = createTemporaryAccounts(store, { clock, ...changes })
    const { accounts, noted: audit } = held.accounts
    return { accounts, audit }
  })
  const { accounts, takeMails, audit, events } = held.accounts!
  t.after(() => audit.flush())
  const owner = await temporary.addUser('owner@example.com')
  const cameraId = await temporary.addCamera(owner.userId, 'Front door')
  const path = `/v1/cameras/${cameraId}/guests/`
  const send = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown, who = owner) => {
    const response = await temporary.api.server.inject({
      method,
      url,
      headers: { authorization: who.authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return {
      status: response.statusCode,
      text: response.body,
      // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
      body: (response.body === '' ? undefined : response.json()) as any,
    }
  }
  const invite = (email: unknown, rest: object = {}) => send('POST', path, { email, ...rest })
  return { ...temporary, accounts, takeMails, events, clock, owner, cameraId, path, send, invite }
}

test('a guest can be invited, read, changed field by field, and removed', async (t) => {
  const { send, invite, path, events, owner, cameraId } = await open(t)
  const made = await invite(' Ada@Example.org ')
  assert.equal(made.status, 201)
  const { id } = made.body
  const guest = {
    id,
    email: 'Ada@Example.org',
    first_name: null,
    last_name: null,
    permissions: { can_view_rec: false, share_notifications: false },
  }
  assert.equal(made.text, JSON.stringify(guest), 'in the order of the interface')
  assert.deepEqual((await send('GET', `${path}${id}/`)).body, guest)
  assert.deepEqual((await send('GET', path)).body, { count: 1, next: null, previous: null, results: [guest] })

  const put = async (body?: unknown) => (await send('PUT', `${path}${id}/`, body)).body.permissions
  assert.deepEqual(await put({ permissions: { can_view_rec: true } }), {
    can_view_rec: true,
    share_notifications: false,
  })
  const both = { can_view_rec: true, share_notifications: true }
  assert.deepEqual(await put({ permissions: { share_notifications: true } }), both)
  for (const nothing of [undefined, {}, { permissions: {} }, { email: 'other@example.org', id: 7 }]) {
    assert.deepEqual(await put(nothing), both)
  }
  assert.equal((await send('GET', `${path}${id}/`)).body.email, 'Ada@Example.org')
  const named = await invite('bob@example.org', { permissions: both })
  assert.deepEqual(named.body.permissions, both)

  for (const [wrong, field] of [
    [{ permissions: { can_view_rec: 'perhaps' } }, { permissions: { can_view_rec: ['Must be a valid boolean.'] } }],
    [{ permissions: null }, { permissions: ['This field may not be null.'] }],
  ] as const) {
    const { status, body } = await send('PUT', `${path}${id}/`, wrong)
    assert.deepEqual([status, body.errors], [400, field])
  }
  assert.equal((await send('DELETE', `${path}${id}/`)).status, 204)
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    assert.equal((await send(method, `${path}${id}/`)).status, 404)
  }
  const detail = { camera: cameraId, guest: id, can_view_rec: true, share_notifications: true }
  assert.deepEqual(
    events.filter(({ event }) => event.startsWith('guest.')).map(({ event, subject }) => [event, subject]),
    [
      ['guest.invited', 'Ada@Example.org'],
      ['guest.changed', 'Ada@Example.org'],
      ['guest.changed', 'Ada@Example.org'],
      ['guest.invited', 'bob@example.org'],
      ['guest.removed', 'Ada@Example.org'],
    ],
  )
  const { userId, detail: noted } = events.at(-1)!
  assert.deepEqual([userId, noted], [owner.userId, detail])
})

test('a guest can give up a share made to any of their addresses, and the owner sees it', async (t) => {
  const { store, send, invite, path, owner, cameraId, addUser, events } = await open(t)
  const guest = await addUser('bea@example.org')
  await invite('friend@example.org')
  await invite('bea@example.org')
  await invite('bea@work.example')
  await store.accounts.change(guest.userId, { email: 'bea@work.example' })
  const url = `/v1/shared-cameras/${cameraId}/`
  assert.equal((await send('GET', path)).body.count, 3)
  assert.equal((await send('DELETE', url)).status, 404, 'by the owner')
  assert.equal((await send('DELETE', url, undefined, guest)).status, 204)
  for (const method of ['GET', 'DELETE'] as const) {
    assert.equal((await send(method, url, undefined, guest)).status, 404)
  }
  assert.equal((await send('GET', '/v1/shared-cameras/', undefined, guest)).body.count, 0)
  const { results } = (await send('GET', path)).body
  assert.deepEqual(
    results.map(({ email }: { email: string }) => email),
    ['friend@example.org'],
  )
  assert.deepEqual(
    events.filter(({ event }) => event === 'guest.left').map(({ userId, subject }) => [userId, subject]),
    [
      [owner.userId, 'bea@example.org'],
      [owner.userId, 'bea@work.example'],
    ],
  )
  assert.equal((await invite('bea@work.example')).status, 201, 'invited again')
})

test('guests are paginated and belong to one camera', async (t) => {
  const { send, invite, path, owner, addCamera, cameraId } = await open(t)
  const ids = []
  for (const name of ['a', 'b', 'c']) ids.push((await invite(`${name}@example.org`)).body.id)
  const page = (await send('GET', `${path}?limit=1&offset=1`)).body
  assert.deepEqual([page.count, page.results.length, page.results[0].id], [3, 1, ids[1]])
  const base = `https://nightjar.example:8443/v1/cameras/${cameraId}/guests/`
  assert.deepEqual([page.next, page.previous], [`${base}?limit=1&offset=2`, `${base}?limit=1`])
  assert.equal((await send('GET', `${path}?limit=0`)).status, 400)
  const other = `/v1/cameras/${await addCamera(owner.userId)}/guests/`
  for (const id of [...ids, 0, 'x', '9'.repeat(20), '%00']) {
    assert.equal((await send('GET', `${other}${id}/`)).status, 404, String(id))
  }
  assert.equal((await send('GET', '/v1/me/')).body.cameras_with_guests_count, 1)
})

test('an address cannot be invited twice, nor oneself, nor an invalid address', async (t) => {
  const { send, invite, path, takeMails } = await open(t)
  await invite('ada@bücher.example')
  await takeMails()
  const before = (await send('GET', path)).text
  const already = ['This email address already belongs to a guest of the camera.']
  const own = ['You cannot invite yourself.']
  const bad = ['Enter a valid email address.']
  const cases: [unknown, readonly string[]][] = [
    ['ADA@bücher.example', already],
    ['ada@xn--bcher-kva.example', already],
    ['Owner@Example.com', own],
    [' owner@example.com\n', own],
    ['', ['This field may not be blank.']],
    ['   ', ['This field may not be blank.']],
    [null, ['This field may not be null.']],
    [5, ['Not a valid string.']],
    [['a@b'], ['Not a valid string.']],
    ['ada', bad],
    ['ada@', bad],
    ['@example.org', bad],
    ['a@b@c', bad],
    ['a b@example.org', bad],
    ['a@example.org, b@example.org', bad],
    ['Ada <ada@example.org>', bad],
    ['"ada"@example.org', bad],
    ['ada@example.org\r\nBcc: all@example.org', bad],
    ['ada\r@example.org', bad],
    ['ada@example.org%0d%0aBcc:x@y', bad],
    ['ada@exa\u202emple.org', bad],
    ['ada\0@example.org', ['Null characters are not allowed.']],
    ['ada\ud800@example.org', ['Not a valid string.']],
    [`${'a'.repeat(250)}@example.org`, ['Ensure this field has no more than 254 characters.']],
  ]
  for (const [email, errors] of cases) {
    const { status, body } = await invite(email)
    assert.deepEqual([status, body.errors], [400, { email: errors }], JSON.stringify(email))
  }
  const missing = await send('POST', path, {})
  assert.deepEqual([missing.status, missing.body.errors], [400, { email: ['This field is required.'] }])
  const several = await invite('x', { permissions: { can_view_rec: 'x' } })
  assert.deepEqual(Object.keys(several.body.errors), ['email', 'permissions'])
  assert.equal((await send('GET', path)).text, before)
  assert.deepEqual(await takeMails(), [])
})

test("T31: whether there is an account behind an address shows in the mail alone, and in the guest's name once they looked", async (t) => {
  const { send, invite, path, takeMails, addUser, cameraId } = await open(t)
  const ada = await addUser('Ada@example.org')
  const [known, unknown] = [await invite('ada@EXAMPLE.org'), await invite('bob@example.org')]
  const shape = ({ text }: { text: string }) => text.replace(/"id":\d+/, '').replace(/"email":"[^"]+"/, '')
  assert.deepEqual([known.status, shape(known)], [unknown.status, shape(unknown)])
  const [notice, invitation, ...more] = await takeMails()
  assert.equal(more.length, 0)
  assert.deepEqual([notice!.to, invitation!.to], ['Ada@example.org', 'bob@example.org'])
  assert.equal(notice!.subject, invitation!.subject)
  for (const { text } of [notice!, invitation!]) assert.match(text, /owner@example\.com shared the camera “Front door”/)
  assert.match(notice!.text, /^https:\/\/nightjar\.example:8443\/$/m)
  assert.match(invitation!.text, /^https:\/\/nightjar\.example:8443\/invitation\/\?token=njln_\w{49}$/m)

  const names = async () => {
    const { first_name, last_name } = (await send('GET', `${path}${known.body.id}/`)).body
    return [first_name, last_name]
  }
  assert.equal((await send('GET', '/v1/shared-cameras/', undefined, ada)).body.count, 1)
  assert.equal((await send('GET', `/v1/shared-cameras/${cameraId}/?max_width=0`, undefined, ada)).status, 400)
  assert.equal((await send('GET', `/v1/shared-cameras/${cameraId}/recording/`, undefined, ada)).status, 404)
  assert.deepEqual(await names(), [null, null], 'not looked yet')
  assert.equal((await send('GET', `/v1/shared-cameras/${cameraId}/`, undefined, ada)).status, 200)
  assert.deepEqual(await names(), ['Ada', 'Lind'])
})

test('the invitation link creates the account with everything shared with the address', async (t) => {
  const { send, invite, accounts, takeMails, owner, addUser, addCamera, store, cameraId } = await open(t)
  await invite('Bob@example.org', { permissions: { can_view_rec: true } })
  const other = await addUser('other@example.com')
  const foreignId = await addCamera(other.userId, 'Foreign')
  await send('POST', `/v1/cameras/${foreignId}/guests/`, { email: 'bob@EXAMPLE.org' }, other)
  const [first, second] = await takeMails()
  assert.deepEqual(await accounts.signUps.findInvitation(tokenIn(first!)), {
    email: 'Bob@example.org',
    inviterEmail: 'owner@example.com',
    camera: { id: cameraId, name: 'Front door' },
    hasAccount: false,
  })
  const person = { firstName: 'Bob', lastName: 'Holm', password }
  const bob = await accounts.signUps.acceptInvitation({ token: tokenIn(first!), ...person })
  const shared = await store.shares.listCameras(bob.id, { limit: 10, offset: 0 })
  assert.deepEqual(
    shared.map(({ camera, share }) => [camera.id, share.canViewRecordings]),
    [
      [cameraId, true],
      [foreignId, false],
    ],
  )
  assert.equal((await store.users.get(bob.id)).isOwner, false)
  await assert.rejects(accounts.signUps.acceptInvitation({ token: tokenIn(first!), ...person }), { kind: 'not_found' })
  assert.equal((await accounts.signUps.findInvitation(tokenIn(second!)))?.hasAccount, true)
  await assert.rejects(accounts.signUps.acceptInvitation({ token: tokenIn(second!), ...person }), { kind: 'conflict' })
  const counts = async (who: typeof owner) => {
    const me = (await send('GET', '/v1/me/', undefined, who)).body
    return [me.my_cameras_count, me.shared_cameras_count, me.total_cameras_count, me.cameras_with_guests_count]
  }
  assert.deepEqual(await counts(owner), [1, 0, 1, 1])
  await send('POST', `/v1/cameras/${foreignId}/guests/`, { email: 'owner@example.com' }, other)
  assert.deepEqual(await counts(owner), [1, 1, 2, 1])
})

test('an invitation ends with its guest or camera or after seven days, and a new one replaces it', async (t) => {
  const { send, invite, path, accounts, takeMails, clock, store, cameraId } = await open(t)
  const inviteBob = async () => {
    const { body } = await invite('bob@example.org')
    return { id: body.id, token: tokenIn((await takeMails())[0]!) }
  }
  const isGood = async (token: string) => (await accounts.signUps.findInvitation(token)) !== undefined
  const first = await inviteBob()
  assert.equal(await isGood(first.token), true)
  await send('DELETE', `${path}${first.id}/`)
  assert.equal(await isGood(first.token), false)
  const second = await inviteBob()
  assert.deepEqual([await isGood(first.token), await isGood(second.token)], [false, true])
  clock.skip(7 * 86_400_000 - 1000)
  assert.equal(await isGood(second.token), true)
  clock.skip(1000)
  assert.equal(await isGood(second.token), false)
  await send('DELETE', `${path}${second.id}/`)
  const third = await inviteBob()
  await store.cameras.remove(cameraId)
  assert.equal(await isGood(third.token), false)
})

test('a guest removed before the email is sent gets none, and no link remains', async (t) => {
  const { send, invite, path, accounts, takeMails, store, owner, cameraId } = await open(t)
  const camera = await store.cameras.get(cameraId)
  // The email is started in the next turn of the event loop; neither of these waits for one.
  const guest = await accounts.guests.invite({ camera, email: 'bob@example.org' })
  await store.guests.remove(cameraId, guest.id)
  assert.deepEqual(await takeMails(), [])
  const again = (await invite('bob@example.org')).body
  assert.equal((await takeMails()).length, 1)
  await send('DELETE', `${path}${again.id}/`)
  const link = { kind: 'invitation', email: 'bob@example.org', inviterId: owner.userId, cameraId } as const
  const late = { ...link, hash: new Uint8Array(32), expiresAtMs: Number.MAX_SAFE_INTEGER, guestId: again.id }
  await assert.rejects(store.links.insert(late), { kind: 'not_found' })
})

test('T31: three invitations a day to an address, twenty an hour from a user; beyond that nothing is kept', async (t) => {
  const { send, invite, path, takeMails, clock, addUser } = await open(t)
  await addUser('ada@example.org')
  for (const email of ['ada@example.org', 'bob@example.org']) {
    for (let i = 0; i < 3; i++) {
      const guest = await invite(email)
      assert.deepEqual([guest.status, (await takeMails()).length], [201, 1])
      assert.equal((await send('DELETE', `${path}${guest.body.id}/`)).status, 204)
    }
    const { status, body } = await invite(email.toUpperCase())
    assert.deepEqual([status, body.title], [429, 'rate_limited'])
  }
  for (let i = 0; i < 14; i++) assert.equal((await invite(`g${i}@example.org`)).status, 201)
  assert.equal((await invite('one.more@example.org')).status, 429)
  assert.equal((await send('GET', path)).body.count, 14)
  clock.skip(3_600_000)
  assert.equal((await invite('one.more@example.org')).status, 201)
  assert.equal((await invite('bob@example.org')).status, 429)
  clock.skip(23 * 3_600_000)
  assert.equal((await invite('bob@example.org')).status, 201)
})

test('an existing guest can get any number of shares but three emails per day', async (t) => {
  const { send, invite, takeMails, owner, addUser, addCamera } = await open(t)
  const ada = await addUser('ada@example.org')
  const share = async (email: string) => {
    const camera = await addCamera(owner.userId)
    return (await send('POST', `/v1/cameras/${camera}/guests/`, { email })).status
  }
  await invite('nobody@example.org')
  for (let i = 0; i < 5; i++) assert.equal(await share('nobody@example.org'), 201)
  assert.equal((await takeMails()).length, 3)
  await invite('ada@example.org')
  for (let i = 0; i < 25; i++) assert.equal(await share('ADA@example.org'), 201)
  assert.equal((await takeMails()).length, 3)
  assert.equal((await send('GET', '/v1/me/', undefined, ada)).body.shared_cameras_count, 26)
  // Other addresses work as before, and a stranger gains nothing.
  assert.equal(await share('bob@example.org'), 201)
  const other = await addUser('other@example.com')
  const foreign = await addCamera(other.userId)
  assert.equal((await send('POST', `/v1/cameras/${foreign}/guests/`, { email: 'ada@example.org' }, other)).status, 429)
})

test('while sign-up is closed, a guest without an account waits and no email is sent', async (t) => {
  const { invite, takeMails, addUser, accounts, store, cameraId } = await open(t, { signUp: 'closed' })
  await addUser('ada@example.org')
  const [known, unknown] = [await invite('ada@example.org'), await invite('bob@example.org')]
  assert.deepEqual([known.status, unknown.status], [201, 201])
  assert.deepEqual(
    (await takeMails()).map(({ to }) => to),
    ['ada@example.org'],
  )
  const bob = await accounts.signUps.add({ email: 'BOB@example.org', firstName: 'Bob', lastName: '', password })
  assert.equal((await store.shares.listCameras(bob.id, { limit: 1, offset: 0 }))[0]?.camera.id, cameraId)
})

test('a confirmed additional address brings its pending shares; existing shares stay', async (t) => {
  const { send, invite, takeMails, addUser, accounts } = await open(t)
  const ada = await addUser('ada@example.org')
  await accounts.administration.change(ada.userId, { newPassword: password })
  await invite('ada@new.example')
  await invite('ada@example.org')
  await takeMails()
  const sharedCount = async () => (await send('GET', '/v1/me/', undefined, ada)).body.shared_cameras_count
  const { id } = (await send('GET', '/v1/cameras/')).body.results[0]
  const guests = async () => (await send('GET', `/v1/cameras/${id}/guests/`)).body.results
  await accounts.selfService.requestEmailChange({ userId: ada.userId, email: 'ada@new.example', password, proof: 'x' })
  const [mail] = await takeMails()
  await send('GET', `/v1/shared-cameras/${id}/`, undefined, ada)
  const named = async () => (await guests()).map((guest: { first_name: unknown }) => guest.first_name)
  assert.deepEqual(await named(), [null, 'Ada'], 'asked for, not confirmed')
  await accounts.selfService.confirmEmail({ token: tokenIn(mail!), userId: ada.userId })
  await send('GET', `/v1/shared-cameras/${id}/`, undefined, ada)
  assert.deepEqual(await named(), ['Ada', 'Ada'])
  assert.equal(await sharedCount(), 1, 'one camera, by whatever addresses')
  assert.deepEqual(
    (await guests()).map(({ email }: { email: string }) => email),
    ['ada@new.example', 'ada@example.org'],
  )
})

test('T31: a name of a camera adds nothing to a mail but itself', async (t) => {
  const { owner, addCamera, send, takeMails } = await open(t)
  const mailOf = async (name: string) => {
    const camera = await addCamera(owner.userId, name)
    await send('POST', `/v1/cameras/${camera}/guests/`, { email: `c${camera}@example.org` })
    return (await takeMails())[0]!
  }
  assert.match((await mailOf('Haus "Eins" 門')).text, /shared the camera “Haus ’Eins’ 門” with you/)
  for (const name of ['Win at http://evil.example', 'A\r\nBcc: b@example.org', 'evil.example']) {
    const { subject, text } = await mailOf(name)
    assert.equal(subject, 'A camera was shared with you on Nightjar')
    assert.match(text, /^owner@example\.com shared a camera with you/)
    assert.doesNotMatch(text, /evil|Bcc/)
  }
})

test('only owners of the server get a link to pass on, and it opens the account of the guest', async (t) => {
  const { store, addUser, addCamera, send, accounts, events } = await open(t)
  const bob = await addUser('bob@example.org')
  const guests = `/v1/cameras/${await addCamera(bob.userId)}/guests/`
  const { id } = (await send('POST', guests, { email: 'ada@example.org' }, bob)).body
  const ask = (guestId: number) => send('POST', `${guests}${guestId}/link/`, undefined, bob)
  assert.equal((await ask(id)).status, 403)
  await store.accounts.change(bob.userId, { isOwner: true })
  const { status, body } = await ask(id)
  assert.equal(status, 201)
  assert.equal(events.at(-1)!.event, 'guest.link_created')
  assert.equal((await ask(999)).status, 404)
  const token = new URL(body.link).searchParams.get('token')!
  await accounts.signUps.acceptInvitation({ token, firstName: 'Ada', lastName: '', password })
  assert.equal((await ask(id)).status, 409, 'she has an account now')
})
