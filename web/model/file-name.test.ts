import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeFileName } from './file-name.ts'

const time = { year: 2026, month: 11, day: 21, hour: 8, minute: 5, second: 2 }

test('files are called by camera and time', () => {
  assert.equal(writeFileName('Front door', time, 'jpg'), 'Front door 2026-11-21 08.05.02.jpg')
  assert.equal(writeFileName('..\\C:/x?', time, 'mp4'), 'C x 2026-11-21 08.05.02.mp4')
  assert.equal(writeFileName('Tür 🦉', time, 'mp4'), 'Tür 🦉 2026-11-21 08.05.02.mp4')
})

test('whatever a camera is called, the name is one that systems take and the interface takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (camera) => {
      const name = writeFileName(camera, time, 'mp4')
      assert.doesNotMatch(name, /[\p{Cc}<>:"/\\|?*]|^[. ]/u)
      assert.ok(name.length <= 200)
    }),
  )
})
