// A media worker with a bug that one kind of camera triggers: it crashes shortly after the first frame that is 176
// pixels wide. It is used to test how the other cameras are affected.

import { CameraHub } from '../../server/hub/camera-hub.ts'

const publish = CameraHub.prototype.publish
CameraHub.prototype.publish = function (item) {
  publish.call(this, item)
  if (item.kind !== 'start' || item.format.video.width !== 176) return
  setTimeout(() => {
    throw new Error('a bug that frames of this size trigger')
  }, 200)
}

await import('../../server/worker.ts')
