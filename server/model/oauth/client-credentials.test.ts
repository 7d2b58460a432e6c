import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkClient } from './client.ts'
import { readClientCredentials } from './client-credentials.ts'
import { readFields } from './fields.ts'

const fields = (sent: Record<string, string>) => readFields(Object.entries(sent))
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('a client says who it is in the body or by Basic', () => {
  assert.deepEqual(readClientCredentials(fields({ client_id: 'a' }), undefined), { clientId: 'a', secrets: [] })
  assert.deepEqual(readClientCredentials(fields({ client_id: 'a', client_secret: 's' }), undefined), {
    clientId: 'a',
    secrets: ['s'],
  })
  assert.deepEqual(readClientCredentials(fields({ client_id: 'a', client_secret: '' }), 'Bearer x'), {
    clientId: 'a',
    secrets: [],
  })
  assert.deepEqual(readClientCredentials(fields({}), basic('a:s')), { clientId: 'a', secrets: ['s'] })
  assert.deepEqual(readClientCredentials(fields({ client_id: 'a' }), basic('a:')), { clientId: 'a', secrets: [] })
  // Form-encoded as the standard requires, or not, as many clients send it: both are tried.
  assert.deepEqual(readClientCredentials(fields({}), basic('a%40b:p%2B1+2')).secrets, ['p+1 2', 'p%2B1+2'])
  assert.deepEqual(readClientCredentials(fields({}), basic('a:100%')).secrets, ['100%'])
  assert.equal(readClientCredentials(fields({}), basic('a%40b:s')).clientId, 'a@b')
})

test('never two different ones, and never without an id', () => {
  const both = readClientCredentials(fields({ client_id: 'a', client_secret: 's' }), basic('a:s'))
  assert.deepEqual(both, { clientId: 'a', secrets: ['s'] })
  const cases: [Record<string, string>, string | undefined, string][] = [
    [{}, undefined, 'invalid_client'],
    [{ client_id: '' }, undefined, 'invalid_client'],
    [{ client_secret: 's' }, undefined, 'invalid_client'],
    [{ client_secret: 't' }, basic('a:s'), 'invalid_request'],
    [{ client_id: 'b' }, basic('a:s'), 'invalid_request'],
    [{ client_id: 'a' }, 'Basic %%%', 'invalid_client'],
    [{}, basic('no colon'), 'invalid_client'],
    [{}, basic(':s'), 'invalid_client'],
    [{}, basic('a\0:s'), 'invalid_client'],
    [{}, `Basic ${Buffer.from([0xff, 0x3a, 0x61]).toString('base64')}`, 'invalid_client'],
  ]
  for (const [sent, authorization, code] of cases) {
    assert.throws(() => readClientCredentials(fields(sent), authorization), { code }, `${JSON.stringify(sent)}`)
  }
  assert.equal(readClientCredentials(fields({ client_id: 'a' }), 'Basic').clientId, 'a')
})

test('T4: nothing known twice, no null characters; without a value is not sent', () => {
  assert.throws(() => readFields([['code', '1'], ['code', '1']]), { code: 'invalid_request', message: 'Duplicate code parameter.' }) // biome-ignore format: one line
  assert.throws(() => readFields([['code', ''], ['code', '']]), { code: 'invalid_request' }) // biome-ignore format: one line
  assert.throws(() => readFields([['code', 'x\0y']]), { code: 'invalid_request' })
  const odd = readFields([['__proto__', 'x'], ['resource', 'a'], ['resource', 'b\0'], ['code', '']]) // biome-ignore format: one line
  assert.deepEqual([...odd], [])
})

test('T3: when a secret is needed', () => {
  const confidential = { isConfidential: true, requiresSecret: false, allowsPassword: true }
  const strict = { ...confidential, requiresSecret: true }
  const open = { isConfidential: false, requiresSecret: true, allowsPassword: false }
  const code = (run: () => void) => {
    try {
      run()
      return 'ok'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  for (const use of ['authorization_code', 'password', 'refresh_token', 'revoke'] as const) {
    assert.equal(
      code(() => checkClient(undefined, 'none', use)),
      'invalid_client',
    )
    assert.equal(
      code(() => checkClient(confidential, 'wrong', use)),
      'invalid_client',
    )
    assert.equal(
      code(() => checkClient(confidential, 'right', use)),
      'ok',
    )
    assert.equal(
      code(() => checkClient(strict, 'none', use)),
      'invalid_client',
    )
    assert.equal(
      code(() => checkClient(strict, 'right', use)),
      'ok',
    )
    assert.equal(
      code(() => checkClient(confidential, 'none', use)),
      use === 'authorization_code' ? 'invalid_client' : 'ok',
    )
    assert.equal(
      code(() => checkClient(open, 'wrong', use)),
      'invalid_client',
    )
    assert.equal(
      code(() => checkClient(open, 'none', use)),
      use === 'password' ? 'unauthorized_client' : 'ok',
    )
  }
})
