import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemCodes } from '../../contract/camera-problem.ts'
import { english } from '../texts/english.ts'
import { german } from '../texts/german.ts'
import { findShortWords, findWords } from './offline-words.ts'

const sentence = 'The camera at 192.168.1.20:554 refused the connection: check the port (often 554).'

test('in English the server’s sentence is shown, which names what it tried', () => {
  for (const code of ['unreachable', 'failed', 'eaten_by_a_goat', null]) {
    assert.deepEqual(findWords({ code, sentence }, english.detection), { text: sentence })
  }
  assert.equal(findShortWords({ code: 'failed', sentence }, english.detection), sentence)
})

test('every problem the server tells of has words and advice in German, and none of them is the server’s English', () => {
  for (const code of problemCodes) {
    assert.ok(english.detection.problems[code], code)
    assert.ok(german.detection.problems[code], code)
    assert.equal(findWords({ code, sentence }, german.detection)?.text, german.detection.advice[code])
    assert.equal(findShortWords({ code, sentence }, german.detection), german.detection.problems[code])
  }
})

test('without a word that says something, the server’s sentence stands behind words of the page’s own', () => {
  for (const code of [null, 'eaten_by_a_goat', 'failed']) {
    assert.deepEqual(findWords({ code, sentence }, german.detection), {
      text: german.detection.advice.failed,
      said: sentence,
    })
    assert.equal(findShortWords({ code, sentence }, german.detection), german.detection.problems.failed)
  }
  assert.equal(findWords({ code: null, sentence: null }, german.detection), undefined)
  assert.equal(findShortWords({ code: null, sentence: null }, german.detection), undefined)
})
