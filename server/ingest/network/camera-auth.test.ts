import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAuthParameters } from '../../media/rtsp/challenge.ts'
import { createAuthorizer, isStale } from './camera-auth.ts'

const mufasa = { username: 'Mufasa', password: 'Circle of Life' }
const rfc7616 = (algorithm: string) =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
const cnonce = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ'

function responseOf(challenges: string[], credentials = mufasa, method = 'GET', url = '/dir/index.html') {
  const value = createAuthorizer(challenges, credentials, () => cnonce)!.authorize(method, url)
  return parseAuthParameters(value)!
}

test('the examples of RFC 7616 3.9.1 lead to the specified responses', () => {
  const md5 = responseOf([rfc7616('MD5')]).parameters
  assert.equal(md5.get('response'), '8ca523f5e9506fed4657c9700eebdbec')
  const sha256 = responseOf([rfc7616('SHA-256')]).parameters
  assert.equal(sha256.get('response'), '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1')
  assert.equal(sha256.get('nc'), '00000001')
  assert.equal(sha256.get('opaque'), 'FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS')
})

test('a challenge without qop is answered according to RFC 2069', () => {
  const credentials = { username: 'admin', password: 'secret' }
  const { parameters } = responseOf(['Digest realm="cam", nonce="abc"'], credentials, 'DESCRIBE', 'rtsp://c/a')
  assert.equal(parameters.get('response'), '4c917b1065297e936100268072eb553e')
  assert.equal(parameters.has('cnonce'), false)
})

test('the strongest supported scheme is chosen, Basic is used last, and unknown schemes are never used', () => {
  const basic = 'Basic realm="cam"'
  assert.equal(responseOf([basic, rfc7616('MD5'), rfc7616('SHA-256')]).parameters.get('algorithm'), 'SHA-256')
  assert.equal(responseOf([basic, rfc7616('SHA-512')]).scheme, 'basic')
  assert.equal(createAuthorizer([basic], mufasa)?.authorize('GET', '/'), 'Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl')
  assert.equal(createAuthorizer([rfc7616('SHA-512'), 'Negotiate'], mufasa), undefined)
})

test('the nonce count increases, and a username with line ends cannot add a header', () => {
  const authorizer = createAuthorizer([rfc7616('MD5')], { username: 'a\r\nX: "b', password: '' })!
  authorizer.authorize('GET', '/')
  const value = authorizer.authorize('GET', '/')
  assert.match(value, /nc=00000002/)
  assert.doesNotMatch(value, /[\r\n]/)
})

test('an expired nonce is distinguished from a wrong password', () => {
  assert.equal(isStale(['Digest realm="a", nonce="b", stale=true']), true)
  assert.equal(isStale(['Digest realm="a", nonce="b", stale=FALSE', 'Basic realm="a"']), false)
})
