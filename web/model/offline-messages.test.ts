import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemCodes } from '../../contract/camera-problem.ts'
import { english } from '../texts/english.ts'
import { german } from '../texts/german.ts'
import { findMessage, findShortMessage } from './offline-messages.ts'

const sentence = 'The camera at 192.168.1.20:554 refused the connection: check the port (often 554).'

test('in English the server’s sentence is shown, which names what it tried', () => {
  for (const code of ['unreachable', 'failed', 'eaten_by_a_goat', null]) {
    assert.deepEqual(findMessage({ code, sentence }, english.detection), { text: sentence })
  }
  assert.equal(findShortMessage({ code: 'failed', sentence }, english.detection), sentence)
})

test('every error code has a label and advice in German', () => {
  for (const code of problemCodes) {
    assert.ok(english.detection.problems[code], code)
    assert.ok(german.detection.problems[code], code)
    assert.equal(findMessage({ code, sentence }, german.detection)?.text, german.detection.advice[code])
    assert.equal(findShortMessage({ code, sentence }, german.detection), german.detection.problems[code])
  }
})

test("for unspecific codes, the server's message follows the page's own", () => {
  for (const code of [null, 'eaten_by_a_goat', 'failed']) {
    assert.deepEqual(findMessage({ code, sentence }, german.detection), {
      text: german.detection.advice.failed,
      said: sentence,
    })
    assert.equal(findShortMessage({ code, sentence }, german.detection), german.detection.problems.failed)
  }
  assert.equal(findMessage({ code: null, sentence: null }, german.detection), undefined)
  assert.equal(findShortMessage({ code: null, sentence: null }, german.detection), undefined)
})
