import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, errorChain } from '../../base/error.ts'
import { toCameraError } from './camera-error.ts'

test('a log entry for an error contains each cause once', () => {
  const refused = toCameraError(new AppError('invalid', 'the address is not allowed'))
  assert.equal(errorChain(refused), 'The address is not allowed.')
  const unknown = new AppError('unavailable', 'the host name is not known', { cause: new Error('ENOTFOUND') })
  assert.equal(errorChain(toCameraError(unknown)), 'The host name is not known: ENOTFOUND')
})

test('bytes of another protocol appear only in the log', () => {
  const error = toCameraError(new AppError('corrupt', 'RTSP: expected a response, found "220 mail.lan"'))
  assert.ok(!error.message.includes('mail.lan'))
  assert.ok(errorChain(error).includes('mail.lan'))
})
