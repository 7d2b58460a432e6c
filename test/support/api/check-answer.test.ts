import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleCamera, sampleUser } from '../../../contract/description/samples.ts'
import { createAnswerCheck, type SentAnswer } from './check-answer.ts'

const check = createAnswerCheck()
const json = { 'content-type': 'application/json' }
const problem = (status: number, title: string, more: object = {}) =>
  JSON.stringify({ status, title, detail: 'x', ...more })

const good: SentAnswer = { method: 'GET', url: '/v1/me/', status: 200, headers: json, body: JSON.stringify(sampleUser) }
const unknown = problem(404, 'not_found')

test('what is described passes', () => {
  const camera = `/v1/cameras/12/`
  const answers: Partial<SentAnswer>[] = [
    {},
    { url: 'https://localhost:8443/v1/me?x=1' },
    { method: 'HEAD', body: '' },
    { url: camera, body: JSON.stringify(sampleCamera) },
    { url: camera, status: 404, body: unknown },
    { url: camera, status: 400, body: problem(400, 'invalid', { errors: { a: ['x'], b: { c: ['y'] } } }) },
    { url: camera, method: 'DELETE', status: 204, headers: {}, body: '' },
    { url: camera, method: 'POST', status: 405, body: problem(405, 'method_not_allowed') },
    { url: '/v1/nothing/', status: 404, body: unknown },
    {
      status: 401,
      headers: { ...json, 'www-authenticate': 'Bearer realm="api"' },
      body: problem(401, 'not_authenticated'),
    },
    { status: 421, body: problem(421, 'misdirected_request') },
    {
      url: '/oauth/token/',
      method: 'POST',
      status: 401,
      headers: { ...json, 'www-authenticate': 'x' },
      body: '{"error":"x"}',
    },
    { url: '/healthz', body: '{"status":"ok"}' },
    { url: '/nowhere', status: 418, body: 'not looked at' },
    { url: '/healthz', method: 'POST', status: 418, body: 'not looked at' },
  ]
  for (const answer of answers) check({ ...good, ...answer })
})

test('what is not described is told in words', () => {
  const answers: [Partial<SentAnswer>, RegExp][] = [
    [{ status: 201 }, /getMe \(GET \/v1\/me\/\) -> 201\n- described are 200, 401, 403, 429, 503/],
    [{ status: 500, body: problem(500, 'internal_error') }, /described are/],
    [{ status: 400, body: problem(400, 'invalid') }, /described are/],
    [{ body: JSON.stringify({ ...sampleUser, password_hash: 'x' }) }, /must not have additional properties/],
    [{ body: JSON.stringify({ ...sampleUser, phone: undefined }) }, /must have required properties phone/],
    [{ body: JSON.stringify({ ...sampleUser, id: '7' }) }, /\/id must be integer/],
    [{ body: '' }, /the body is not JSON/],
    [
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
      /the type is application\/json; charset=utf-8/,
    ],
    [{ status: 401, body: problem(401, 'not_authenticated') }, /the header WWW-Authenticate is missing/],
    [{ status: 429, body: problem(429, 'rate_limited') }, /the header Retry-After is missing/],
    [{ url: '/v1/cameras/1/', status: 404, body: problem(400, 'not_found') }, /\/status is not 404/],
    [{ url: '/v1/cameras/1/', status: 404, body: problem(404, 'not_found', { id: 1 }) }, /additional properties/],
    [{ url: '/v1/cameras/1/', method: 'DELETE', status: 204, headers: {}, body: '{}' }, /the body should be empty/],
    [{ url: '/v1/cameras/1/', body: JSON.stringify({ ...sampleCamera, snapshot: { url: 'x' } }) }, /\/snapshot/],
    [{ url: '/healthz', body: '{"status":"ok","cameras":2}' }, /additional properties/],
    [{ url: '/oauth/token', method: 'POST', status: 400, body: '{"status":400}' }, /required properties error/],
    [{ url: '/v1/nothing/', status: 200 }, /there is no such operation/],
    [{ url: '/v1/nothing/', status: 404, body: problem(404, 'invalid') }, /there is no such operation/],
  ]
  for (const [answer, message] of answers)
    assert.throws(() => check({ ...good, ...answer }), { message }, String(message))
})
