// Firefox interprets Content-Security-Policy differently from Chromium: the redirect to an application must work there
// too.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownerEmail as email, eventually, openServerHere } from '../server-under-test.ts'
import { hasFirefox, launchFirefox } from './firefox.ts'
import { openForeignApp } from './foreign-app.ts'

const skip = !hasFirefox() && 'Firefox is not installed: apt-get install firefox-esr'

test('T28: Firefox delivers the authorization response to an application over HTTPS and on localhost', {
  skip,
}, async () => {
  await using server = await openServerHere()
  await using firefox = await launchFirefox()
  for (const tls of [true, false]) {
    await using foreign = await openForeignApp({ tls })
    const { redirectUri: redirect_uri, calls } = foreign
    const flags = ['--user', email, '--name', 'Viewer', '--redirect-uris', redirect_uri]
    const { client_id } = await server.command<{ client_id: string }>('app', 'add', ...flags)
    const state = 'a b+c%20&d=é 漢字 🦉'
    const query = { response_type: 'code', client_id, redirect_uri, scope: 'read', state }
    const authorizeUrl = `${server.url}/oauth/authorize/?${new URLSearchParams(query)}`
    const callBack = (count: number) => eventually('the way back', 10_000, async () => calls[count - 1])

    await firefox.deleteCookies()
    await firefox.open(authorizeUrl)
    await firefox.type('#email', email)
    await firefox.type('#password', 'correct horse')
    await firefox.click('main button')
    assert.equal(await firefox.text('h1'), 'Allow Viewer to access your account?')
    await firefox.click('button[value=deny]')
    assert.equal((await callBack(1)).get('error'), 'access_denied')
    await firefox.open(authorizeUrl)
    await firefox.click('button[value=allow]')
    const answer = await callBack(2)
    assert.match(answer.get('code')!, /^njac_/)
    assert.equal(answer.get('state'), state)
  }
})
