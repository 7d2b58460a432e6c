import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnauthenticatedError } from '../auth/caller.ts'
import { AppError } from '../base/error.ts'
import { toProblem, writeProblem } from './problem.ts'

test('each error kind has its status and title, and reveals its cause only if it is the caller’s', () => {
  const cases = [
    ['invalid', 400, 'invalid', 'words'],
    ['unauthenticated', 401, 'not_authenticated', 'Authentication credentials were not provided.'],
    ['forbidden', 403, 'permission_denied', 'You do not have permission to perform this action.'],
    ['not_found', 404, 'not_found', 'Not found.'],
    ['conflict', 409, 'conflict', 'words'],
    ['rate_limited', 429, 'rate_limited', 'Request was throttled.'],
    ['unavailable', 503, 'unavailable', 'This is not available at the moment. Try again later.'],
    ['corrupt', 500, 'internal_error', 'The server could not answer.'],
    ['internal', 500, 'internal_error', 'The server could not answer.'],
  ] as const
  for (const [kind, status, title, detail] of cases) {
    const problem = toProblem(new AppError(kind, 'words', { cause: new Error('secret') }))
    assert.deepEqual([problem.status, problem.title, problem.detail], [status, title, detail])
    assert.ok(!writeProblem(problem).includes('secret'))
  }
  for (const unknown of [new Error('secret'), 'secret', undefined, null, { statusCode: 500 }]) {
    assert.equal(toProblem(unknown).status, 500)
  }
})

test('keys are in the order clients know, with errors only on 400', () => {
  const fields = { limit: ['A valid integer is required.'] }
  const invalid = toProblem(new AppError('invalid', 'limit: A valid integer is required.', { fields }))
  assert.equal(
    writeProblem(invalid),
    '{"status":400,"title":"invalid","detail":"limit: A valid integer is required.","errors":{"limit":["A valid integer is required."]}}',
  )
  assert.deepEqual(Object.keys(JSON.parse(writeProblem(toProblem(new AppError('not_found', ''))))), [
    'status',
    'title',
    'detail',
  ])
})

test('the message of an invalid field names the field', () => {
  const fields = { url: ['It is too long.'], permissions: { non_field_errors: ['It is null.'] } }
  assert.equal(
    toProblem(new AppError('invalid', 'other words', { fields })).detail,
    'url: It is too long. permissions: It is null.',
  )
  const whole = { non_field_errors: ['It is no object.'] }
  assert.equal(toProblem(new AppError('invalid', 'words', { fields: whole })).detail, 'It is no object.')
})

test('the retry time is in the header and in the message', () => {
  const throttled = toProblem(new AppError('rate_limited', '', { retryAfterSeconds: 59.2 }))
  assert.equal(throttled.headers['retry-after'], '60')
  assert.equal(throttled.detail, 'Request was throttled. Expected available in 60 seconds.')
  assert.equal(toProblem(new AppError('unavailable', '')).headers['retry-after'], '5')
})

test('only a refused bearer token is named in the challenge', () => {
  const plain = toProblem(new UnauthenticatedError('no credentials'))
  assert.equal(plain.headers['www-authenticate'], 'Bearer realm="api"')
  const refused = toProblem(new UnauthenticatedError('bad', 'bearer'))
  assert.match(refused.headers['www-authenticate']!, /^Bearer realm="api", error="invalid_token", /)
})
