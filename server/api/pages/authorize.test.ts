import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { openTemporaryPages, password, readForms, unescapeHtml } from '../../../test/support/api/temporary-pages.ts'
import { addApplication, testSecret } from '../../../test/support/auth/temporary-oauth.ts'

const redirectUri = 'https://app.example/cb'
const preference = { response_type: 'code', client_id: 'app', redirect_uri: redirectUri, scope: 'read', state: 's' }
const authorize = (changes: Record<string, string> = {}) =>
  `/oauth/authorize/?${new URLSearchParams({ ...preference, ...changes })}`

async function openWithApp(t: TestContext, { openStore }: TestDatabase, redirectUris = [redirectUri]) {
  const pages = await openTemporaryPages(t, { openStore })
  const user = await pages.addPerson()
  await addApplication(pages.store, { ownerId: user.id, redirectUris })
  return { pages, user, browser: pages.openBrowser() }
}

testEachDatabase('sign in, allow, and the application gets a code that is worth a token', async (t, database) => {
  const { pages, user, browser } = await openWithApp(t, database)
  await browser.open(authorize())
  assert.match(browser.shown!.text, /to continue to Doorbell/)
  await browser.submit({ email: user.email, password })
  assert.match(browser.shown!.text, /Allow Doorbell to access your account\?/)
  assert.match(browser.shown!.text, /ada@example\.org/)
  assert.match(browser.shown!.text, /app\.example/)
  await browser.submit({ answer: 'allow' }, '/oauth/')
  assert.equal(browser.shown!.status, 303)
  const location = new URL(browser.shown!.location!)
  assert.equal(location.origin + location.pathname, redirectUri)
  assert.deepEqual([...location.searchParams.keys()].sort(), ['code', 'iss', 'state'])
  assert.equal(location.searchParams.get('state'), 's')
  const answer = await pages.deps.oauth.grants.list(user.id)
  assert.deepEqual(answer, [])
  const code = location.searchParams.get('code')!
  const form = {
    grant_type: 'authorization_code',
    client_id: 'app',
    client_secret: testSecret,
    code,
    redirect_uri: redirectUri,
  }
  const token = await pages.api.server.inject({
    method: 'POST',
    url: '/oauth/token/',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: String(new URLSearchParams(form)),
  })
  // The API of these tests has an OAuth of its own, on the same store.
  assert.equal(token.statusCode, 200, token.payload)
  assert.equal((await pages.deps.oauth.grants.list(user.id)).length, 1)
})

testEachDatabase('T28: deny tells the application so', async (t, database) => {
  const { browser } = await openWithApp(t, database)
  await browser.signIn()
  await browser.open(authorize({ state: 'a b' }))
  await browser.submit({ answer: 'deny' }, '/oauth/')
  const query = new URL(browser.shown!.location!).searchParams
  assert.equal(query.get('error'), 'access_denied')
  assert.equal(query.get('state'), 'a b')
  assert.equal(query.has('code'), false)
  // Neither button: as good as no.
  await browser.open(authorize())
  await browser.submit({ answer: 'perhaps' }, '/oauth/')
  assert.match(browser.shown!.location!, /error=access_denied/)
})

testEachDatabase('T28: a question is answered once, and asked again after that', async (t, database) => {
  const { browser } = await openWithApp(t, database)
  await browser.signIn()
  for (const [first, second] of [
    ['allow', 'allow'],
    ['deny', 'allow'],
    ['allow', 'deny'],
  ] as const) {
    await browser.open(authorize())
    const { action, fields } = readForms(browser.shown!.text).find((form) => form.action.startsWith('/oauth/'))!
    const answers = await Promise.all([first, second].map((answer) => browser.post(action, { ...fields, answer })))
    const locations = answers.map(({ location }) => location!)
    // The same click twice has one answer; another click has none.
    const isSame = first === second
    assert.equal(locations.filter((location) => location.startsWith(redirectUri)).length, isSame ? 2 : 1)
    assert.equal(new Set(locations).size, isSame ? 1 : 2)
    if (!isSame) assert.ok(locations.includes(action))
  }
})

testEachDatabase(
  'T8: nobody is sent to an application that is gone meanwhile, not even with a no',
  async (t, database) => {
    const { pages, browser } = await openWithApp(t, database)
    await browser.signIn()
    await browser.open(authorize())
    const [application] = await pages.store.applications.list()
    await pages.store.applications.remove(application!.id)
    await browser.submit({ answer: 'deny' }, '/oauth/')
    assert.deepEqual([browser.shown!.status, browser.shown!.location], [400, undefined])
  },
)

testEachDatabase('T8: hostile redirect addresses are a 400 and lead nowhere, signed in or not', async (t, database) => {
  const { browser } = await openWithApp(t, database)
  const hostile = [
    'https://evil.example/cb',
    'https://app.example:8443/cb',
    'https://app.example/cb?x=1',
    'https://app.example/cb/',
    'https://app.example@evil.example/cb',
    'https://user:x@app.example/cb',
    'https://app.example/a/../cb',
    'https://APP.example/cb',
    'https://app.example/CB',
    'https://app.example/cb#x',
    'javascript:alert(1)',
    'http://app.example/cb',
  ]
  for (const isSignedIn of [false, true]) {
    if (isSignedIn) await browser.signIn()
    for (const redirect_uri of hostile) {
      for (const [accept, type] of [
        ['text/html', /^text\/html/],
        ['*/*', /^application\/json/],
      ] as const) {
        browser.headers.accept = accept
        const { status, headers, location, text } = await browser.get(authorize({ redirect_uri }))
        assert.equal(status, 400, redirect_uri)
        assert.equal(location, undefined)
        assert.match(String(headers['content-type']), type)
        if (!redirect_uri.includes('#')) assert.match(text, /Mismatching redirect URI\./)
      }
    }
    browser.headers.accept = '*/*'
    const { text } = await browser.get(authorize({ redirect_uri: hostile[0]! }))
    assert.deepEqual(JSON.parse(text), { status: 400, title: 'invalid_request', detail: 'Mismatching redirect URI.' })
    assert.equal((await browser.get(authorize({ client_id: 'nobody' }))).status, 400)
    browser.headers.accept = 'text/html'
  }
})

testEachDatabase('T8: a program on the user’s own machine may listen on any port', async (t, database) => {
  const { browser } = await openWithApp(t, database, ['http://127.0.0.1/cb', 'http://[::1]/cb', 'http://localhost/cb'])
  await browser.signIn()
  for (const redirect_uri of ['http://127.0.0.1:49152/cb', 'http://[::1]:49152/cb', 'http://localhost:49152/cb']) {
    const { status, headers } = await browser.get(authorize({ redirect_uri }))
    assert.equal(status, 200)
    // Browsers would apply it to wherever the application redirects to.
    assert.doesNotMatch(String(headers['content-security-policy']), /form-action/)
    await browser.submit({ answer: 'allow' }, '/oauth/')
    assert.ok(browser.shown!.location!.startsWith(redirect_uri))
  }
})

testEachDatabase('T9: state comes back unchanged, however odd', async (t, database) => {
  const { browser } = await openWithApp(t, database)
  await browser.open(authorize())
  await browser.submit({ email: 'ada@example.org', password })
  for (const state of [
    'a b',
    'a+b',
    '100%',
    'a&b=c',
    '%20',
    'ü 漢字 🦉',
    '"><script>',
    '\'"`',
    'a\\b',
    ' ',
    'x'.repeat(8192),
  ]) {
    await browser.open(authorize({ state }))
    await browser.submit({ answer: 'allow' }, '/oauth/')
    assert.equal(new URL(browser.shown!.location!).searchParams.get('state'), state)
  }
  const { scope: _, state: __, ...rest } = preference
  await browser.open(`/oauth/authorize/?${new URLSearchParams(rest)}`)
  await browser.submit({ answer: 'allow' }, '/oauth/')
  assert.equal(new URL(browser.shown!.location!).searchParams.has('state'), false)
  const { location } = await browser.get(`${authorize()}&state=again`)
  assert.match(location!, /error=invalid_request.*Duplicate%20state/)
})

testEachDatabase('T9: state survives signing in', async (t, database) => {
  const { pages } = await openWithApp(t, database)
  for (const state of ['a+b%20%2B%FF%zz', 'x'.repeat(8192)]) {
    const browser = pages.openBrowser()
    await browser.open(`${authorize({ state: '' })}&ignored=1`.replace('state=', `state=${state}`))
    await browser.submit({ email: 'ada@example.org', password })
    await browser.submit({ answer: 'allow' }, '/oauth/')
    assert.ok(browser.shown!.location!.endsWith(`&state=${state}`))
  }
})

testEachDatabase('a form that is sent twice gets the same answer, once', async (t, database) => {
  const { pages, browser } = await openWithApp(t, database)
  await browser.signIn()
  await browser.open(authorize())
  const { action, fields } = readForms(browser.shown!.text).find((form) => form.action.startsWith('/oauth/'))!
  const answers = await Promise.all([1, 2].map(() => browser.post(action, { ...fields, answer: 'allow' })))
  answers.push(await browser.post(action, { ...fields, answer: 'allow' }))
  const { location } = answers[0]!
  assert.ok(location!.startsWith('https://app.example/') && answers.every((each) => each.location === location))
  // Nobody else gets it.
  const eve = pages.openBrowser()
  const stolen = await eve.post(action, { ...fields, answer: 'allow' })
  assert.match(stolen.location!, /^\/sign-in\//)
})

testEachDatabase('two tabs that a new browser opens together both get to their applications', async (t, database) => {
  const { browser } = await openWithApp(t, database)
  // Both are asked for before there is a cookie.
  const tabs = await Promise.all(['one', 'two'].map((state) => browser.get(authorize({ state }))))
  const pages: string[] = []
  for (const { location } of tabs) pages.push((await browser.get(location!)).text)
  for (const [i, text] of pages.entries()) {
    const { action, fields } = readForms(text).find((form) => form.action.startsWith('/sign-in/'))!
    await browser.post(action, { ...fields, email: 'ada@example.org', password })
    await browser.open(browser.shown!.location!)
    await browser.submit({ answer: 'allow' }, '/oauth/')
    assert.equal(new URL(browser.shown!.location!).searchParams.get('state'), ['one', 'two'][i])
  }
})

testEachDatabase(
  'other errors go back to the application, but not before somebody has signed in',
  async (t, database) => {
    const { browser } = await openWithApp(t, database)
    const { location } = await browser.get(authorize({ scope: 'everything' }))
    assert.match(location!, /^\/sign-in\//)
    await browser.get(location!)
    assert.doesNotMatch(String(browser.shown!.headers['content-security-policy']), /form-action/)
    await browser.submit({ email: 'ada@example.org', password })
    const back = new URL(browser.shown!.location!)
    assert.equal(back.origin, 'https://app.example')
    assert.equal(back.searchParams.get('error'), 'invalid_scope')
    assert.equal(browser.shown!.status, 302)
  },
)

testEachDatabase(
  'a question that is not known any more is asked again, and nothing is granted',
  async (t, database) => {
    const { browser } = await openWithApp(t, database)
    await browser.signIn()
    await browser.open(authorize())
    const { action, fields } = readForms(browser.shown!.text).find((form) => form.action.startsWith('/oauth/'))!
    const again = await browser.post(action, { ...fields, question: 'unknown', answer: 'allow' })
    assert.deepEqual([again.status, again.location], [303, authorize()])
  },
)

testEachDatabase(
  'what is asked for cannot be changed in the form, nor taken from another session',
  async (t, database) => {
    const { pages, browser } = await openWithApp(t, database)
    await browser.signIn()
    await browser.open(authorize())
    const { fields } = readForms(browser.shown!.text).find((form) => form.action.startsWith('/oauth/'))!
    await browser.post(authorize({ redirect_uri: 'https://evil.example/', scope: 'user_access', state: 'other' }), {
      ...fields,
      scope: 'user_access',
      answer: 'allow',
    })
    const location = new URL(browser.shown!.location!)
    assert.deepEqual([location.host, location.searchParams.get('state')], ['app.example', 's'])

    await pages.addPerson('eve@example.org')
    const eve = pages.openBrowser()
    await eve.signIn('eve@example.org')
    await eve.open(authorize())
    const own = readForms(eve.shown!.text).find((form) => form.action.startsWith('/oauth/'))!
    const stolen = await eve.post(own.action, { ...own.fields, question: fields.question!, answer: 'allow' })
    assert.equal(stolen.location, authorize())
  },
)

testEachDatabase('who is asked can be somebody else', async (t, database) => {
  const { pages, browser } = await openWithApp(t, database)
  await pages.addPerson('eve@example.org')
  await browser.signIn()
  await browser.open(authorize({ state: 'a b' }))
  await browser.submit({}, '/sign-out/')
  assert.match(browser.shown!.url, /^\/sign-in\/\?return_to=/)
  await browser.submit({ email: 'eve@example.org', password })
  assert.match(browser.shown!.text, /eve@example\.org/)
  await browser.submit({ answer: 'allow' }, '/oauth/')
  assert.match(browser.shown!.location!, /state=a\+b$/)
})

testEachDatabase('an application that is changed while its user decides gets no code', async (t, database) => {
  const { pages, browser } = await openWithApp(t, database)
  await browser.signIn()
  await browser.open(authorize())
  const app = (await pages.store.applications.find('app'))!
  await pages.store.applications.update(app.id, { redirectUris: ['https://elsewhere.example/'] })
  await browser.submit({ answer: 'allow' }, '/oauth/')
  assert.equal(browser.shown!.status, 400)
  assert.equal(browser.shown!.location, undefined)
})

testEachDatabase('names of applications are text', async (t, database) => {
  const { pages, browser } = await openWithApp(t, database)
  const app = (await pages.store.applications.find('app'))!
  const name = '<img src=x onerror=alert(1)>"\'&amp;'
  await pages.store.applications.update(app.id, { name })
  await browser.signIn()
  await browser.open(authorize())
  assert.ok(!browser.shown!.text.includes('<img'))
  assert.ok(unescapeHtml(browser.shown!.text).includes(name))
})
