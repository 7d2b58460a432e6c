import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeRedirect } from './redirect.ts'
import { checkRedirectUri, isRegistered, isWellFormed } from './redirect-uri.ts'

test('what may be registered', () => {
  for (const uri of [
    'https://app.example/cb',
    'https://app.example',
    'https://app.example:8443/cb?a=b',
    'http://localhost:3000/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:8081/cb',
    'com.example.app:/cb',
    'com.example.app://cb',
    'com.example.MyApp:/cb',
  ]) {
    checkRedirectUri(uri)
  }
  for (const uri of [
    '',
    '/cb',
    'app.example/cb',
    'http://app.example/cb',
    'http://127.0.0.2/cb',
    'https://user@app.example/cb',
    'https://@app.example/cb',
    'https://app.example/cb#',
    'https://app.example/a/../cb',
    'https://app.example/%2e%2e/cb',
    'https://App.example/cb',
    'https://app.example:443/cb',
    'https://*.example/cb',
    'https://app.example/c b',
    'https://app.example\\cb',
    'https://ünicode.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp://cb',
    `https://app.example/${'x'.repeat(2000)}`,
    'https://app.example/\r\nx',
  ]) {
    assert.throws(() => checkRedirectUri(uri), { kind: 'invalid' }, uri)
  }
})

test('T8: nothing but the registered address itself; of a loopback address any port, of a scheme any case', () => {
  const registered = [
    'https://app.example/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:5000/cb?a',
    'http://localhost:3000/cb',
    'com.example.MyApp:/Cb',
  ]
  for (const uri of [
    ...registered,
    ...['http://127.0.0.1:51004/cb', 'http://[::1]/cb?a', 'http://[::1]:1/cb?a', 'http://localhost:3001/cb'],
    ...['com.example.myapp:/Cb', 'HTTPS://app.example/cb'],
  ]) {
    assert.ok(isRegistered(uri, registered), uri)
  }
  for (const uri of [
    'https://evil.example/cb',
    'https://app.example.evil.example/cb',
    'https://app.example:444/cb',
    'https://app.example/cb?x=1',
    'https://app.example/cb/',
    'https://app.example@evil.example/cb',
    'https://app.example/cb/../x',
    'https://APP.example/cb',
    'https://app.example/cb#x',
    'javascript:alert(1)',
    'http://127.0.0.1:51004/cb#x',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:80@evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:51004/cb2',
    'https://127.0.0.1/cb',
    'http://localhost.evil.example/cb',
    'http://localhost:3000@evil.example/cb',
    'com.example.MyApp:/cb',
    '',
  ]) {
    assert.ok(!isRegistered(uri, registered), uri)
  }
  assert.ok(isWellFormed('https://x') && !isWellFormed('https://x#y') && !isWellFormed('//x'))
})

test('a scheme that any program may claim is refused with the way out', () => {
  assert.throws(() => checkRedirectUri('cursor://anysphere/cb'), {
    message: /"cursor:" .*127\.0\.0\.1.*com\.example\.app/,
  })
})

test('the answer joins the query of the address, and any text survives', () => {
  const text = 'a b+c%20&=#ü\u2028"'
  const state = encodeURIComponent(text)
  for (const uri of ['https://app.example/cb', 'https://app.example/cb?tenant=1', 'com.example.app:/cb']) {
    const location = writeRedirect(uri, { code: 'x', gone: undefined, iss: 'https://h:1' }, state)
    const { searchParams } = new URL(location)
    assert.ok(location.startsWith(uri))
    assert.deepEqual([searchParams.get('code'), searchParams.get('state')], ['x', text])
    assert.equal(searchParams.get('iss'), 'https://h:1')
    assert.match(location, /^[\x21-\x7e]+$/)
    assert.ok(!location.includes('+') && !searchParams.has('gone'))
  }
})

test('the state is returned as it was sent, whatever it means', () => {
  for (const state of ['a+b', '%FF', '%zz', 'a%2Bb', "x'|y", 'x=y?z/%', '%e4', '"<>']) {
    assert.ok(writeRedirect('https://app.example/cb', { code: 'x' }, state).endsWith(`&state=${state}`), state)
  }
  assert.match(writeRedirect('https://app.example/cb', {}, 'a#b\xff\r\n c'), /state=a%23b%FF%0D%0A%20c$/)
})
