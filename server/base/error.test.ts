import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, errorChain } from './error.ts'

test('errorChain joins the messages from the outside in', () => {
  const disk = new AppError('unavailable', 'write a.mp4', { cause: new Error('ENOSPC') })
  assert.equal(
    errorChain(new AppError('internal', 'recording stopped', { cause: disk })),
    'recording stopped: write a.mp4: ENOSPC',
  )
  assert.equal(errorChain(new Error('It is off.', { cause: new Error('gone.') })), 'It is off: gone.')
  assert.equal(errorChain('text'), 'text')
})
