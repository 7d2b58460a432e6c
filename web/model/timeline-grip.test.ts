import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findGrip } from './timeline-grip.ts'

const places = { cursor: 100, start: 90, end: 300 }
const mouse = { reach: 8, isMarking: false }

test('the nearest target within reach is grabbed', () => {
  assert.equal(findGrip(99, places, mouse), 'cursor')
  assert.equal(findGrip(93, places, mouse), 'start')
  assert.equal(findGrip(305, places, mouse), 'end')
  assert.equal(findGrip(200, places, mouse), 'room')
  assert.equal(findGrip(280, places, { ...mouse, reach: 22 }), 'end')
})

test('while marking a range, the playhead cannot be grabbed', () => {
  assert.equal(findGrip(100, { cursor: 100 }, { reach: 8, isMarking: true }), 'range')
  assert.equal(findGrip(91, places, { reach: 8, isMarking: true }), 'start')
})
