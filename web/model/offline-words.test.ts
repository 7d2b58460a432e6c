import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemCodes } from '../../contract/camera-problem.ts'
import { english } from '../texts/english.ts'
import { german } from '../texts/german.ts'
import { findShortWords, findWords } from './offline-words.ts'

const sentence = 'The camera at 192.168.1.20:554 refused the connection: check the port (often 554).'

test('in English the server’s sentence is shown, which names what it tried', () => {
  assert.equal(findWords({ code: 'unreachable', sentence }, english.detection), sentence)
})

test('every problem the server tells of has words and advice in German, and none of them is the server’s English', () => {
  for (const code of problemCodes) {
    assert.ok(english.detection.problems[code], code)
    assert.ok(german.detection.problems[code], code)
    if (code !== 'failed') assert.notEqual(findWords({ code, sentence }, german.detection), sentence, code)
  }
})

test('without a word for programs, or with one of a newer server, the server’s sentence is better than nothing', () => {
  for (const code of [null, 'eaten_by_a_goat', 'failed']) {
    assert.equal(findWords({ code, sentence }, german.detection), sentence)
    assert.equal(findShortWords({ code, sentence }, german.detection), sentence)
  }
  assert.equal(findWords({ code: null, sentence: null }, german.detection), undefined)
})
