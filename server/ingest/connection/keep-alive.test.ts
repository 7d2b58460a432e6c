import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeepAlive } from './keep-alive.ts'

test('the listed methods are used one after the other as they fail, and then GET_PARAMETER even if it is not listed', () => {
  const cases: [string[], string[]][] = [
    [
      ['OPTIONS', 'GET_PARAMETER', 'SET_PARAMETER'],
      ['GET_PARAMETER', 'OPTIONS', 'SET_PARAMETER', 'GET_PARAMETER'],
    ],
    [
      ['OPTIONS', 'PLAY'],
      ['OPTIONS', 'GET_PARAMETER', 'OPTIONS'],
    ],
    [[], ['OPTIONS', 'GET_PARAMETER', 'OPTIONS']],
  ]
  for (const [listed, expected] of cases) {
    const keepAlive = new KeepAlive()
    for (const method of expected) {
      assert.equal(keepAlive.chooseMethod(listed), method)
      keepAlive.noteFailure()
    }
  }
})

test('a session that is lost at its timeout counts as a failure, and one that is lost at another age does not', () => {
  const keepAlive = new KeepAlive()
  for (const ageMs of [5000, 50_000, 500_000]) keepAlive.noteLoss(ageMs, 60_000)
  assert.equal(keepAlive.chooseMethod([]), 'OPTIONS')
  keepAlive.noteLoss(71_000, 60_000)
  assert.equal(keepAlive.chooseMethod([]), 'GET_PARAMETER')
})
