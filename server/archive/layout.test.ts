import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alternativePath, findCameraOfPath, leaseEpochOfPath, nextPath, segmentPath, startOfPath } from './layout.ts'

const startMs = Date.UTC(2026, 0, 2, 3, 4, 5, 89)

test('paths contain the camera and the time, and other names are not recordings', () => {
  const path = 'cameras/7/2026-01-02/03-04-05.089Z.mp4'
  assert.equal(segmentPath(7, startMs), path)
  const ofLease = 'cameras/7/2026-01-02/03-04-05.089Z.e17.mp4'
  assert.equal(segmentPath(7, startMs, 17), ofLease)
  const copies = [nextPath(path, 'server'), nextPath(ofLease, 'server'), alternativePath(ofLease, 2)]
  for (const each of [path, ofLease, ...copies]) {
    assert.equal(findCameraOfPath(each), 7)
    assert.equal(startOfPath(each), startMs)
  }
  assert.deepEqual([path, ofLease, ...copies].map(leaseEpochOfPath), [undefined, 17, undefined, 17, 17])
  for (const other of ['cameras/7/notes.txt', '../cameras/7/2026-01-02/03-04-05.089Z.mp4', 'cameras/x/a/b.mp4']) {
    assert.equal(findCameraOfPath(other), undefined)
    assert.equal(startOfPath(other), Number.NaN)
  }
})
