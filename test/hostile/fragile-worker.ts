// A media worker with a bug that one kind of camera brings out: frames 176 pixels wide end it, a moment after the first. For the test of
// what then becomes of the other cameras.

import { CameraHub } from '../../server/hub/camera-hub.ts'

const publish = CameraHub.prototype.publish
CameraHub.prototype.publish = function (item) {
  publish.call(this, item)
  if (item.kind !== 'start' || item.format.video.width !== 176) return
  setTimeout(() => {
    throw new Error('a bug that frames of this size bring out')
  }, 200)
}

await import('../../server/worker.ts')
