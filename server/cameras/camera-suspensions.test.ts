import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../test/support/test-clock.ts'
import { CameraSuspensions } from './camera-suspensions.ts'

const minuteMs = 60_000

function open() {
  const clock = new TestClock()
  const ended: number[] = []
  return { clock, ended, suspensions: new CameraSuspensions({ clock, onEnd: (cameraId) => ended.push(cameraId) }) }
}

test('a camera is suspended after the second worker crash within an hour', async () => {
  const { clock, ended, suspensions } = open()
  assert.equal(suspensions.note(1), undefined)
  assert.equal(suspensions.note(2), undefined, 'another camera')
  assert.equal(suspensions.note(1), 10 * minuteMs)
  assert.deepEqual([suspensions.isSuspended(1), suspensions.isSuspended(2)], [true, false])
  await clock.advance(10 * minuteMs - 1)
  assert.deepEqual(ended, [])
  await clock.advance(1)
  assert.deepEqual(ended, [1])
  assert.equal(suspensions.isSuspended(1), false)
})

test('worker crashes more than an hour apart suspend no camera', async () => {
  const { clock, suspensions } = open()
  for (let i = 0; i < 10; i++) {
    assert.equal(suspensions.note(1), undefined)
    await clock.advance(60 * minuteMs)
  }
})

test('a camera that keeps crashing workers is suspended at the next crash, for twice as long, at most a day', async () => {
  const { clock, suspensions } = open()
  suspensions.note(1)
  const minutes: number[] = []
  for (let i = 0; i < 10; i++) {
    const forMs = suspensions.note(1)!
    minutes.push(forMs / minuteMs)
    await clock.advance(forMs)
    assert.equal(suspensions.isSuspended(1), false)
  }
  assert.deepEqual(minutes, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440])
})

test("changing a camera's settings resets its suspension", async () => {
  const { clock, ended, suspensions } = open()
  suspensions.note(1)
  suspensions.note(1)
  suspensions.forget(1)
  assert.equal(suspensions.isSuspended(1), false)
  assert.equal(suspensions.note(1), undefined)
  await clock.advance(60 * minuteMs)
  assert.deepEqual(ended, [])
})
