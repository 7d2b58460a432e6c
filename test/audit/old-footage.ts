// Footage older than that of the audited cameras: when the disk is full the server deletes the oldest, which must not be what is
// going to be looked for.

import { setTimeout as sleep } from 'node:timers/promises'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import type { ServerUnderTest } from '../server-under-test.ts'

const picture = { width: 640, height: 360, framesPerSecond: 25, gopFrames: 25, bitsPerSecond: 6_000_000 }
const cameras = 5
const files = 3
const fileMs = 2500

/** Some twenty megabytes in files of a megabyte or two; takes ten seconds. */
export async function recordOldFootage(server: ServerUnderTest): Promise<void> {
  const streams = Array.from({ length: cameras }, (_, i) => ({
    name: `old/${i}`,
    title: 'old',
    loopSeconds: 2,
    ...picture,
  }))
  await using source = await openFakeCamera({ streams })
  const ids: number[] = []
  for (const { name } of streams) {
    const body = { name, url: source.url(name), type: 'h264' }
    const { json } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })
    await server.request(`/v1/cameras/${json.id}/recording/`, { method: 'POST', body: { retention: 'P30D' } })
    ids.push(json.id)
  }
  for (let file = 0; file < files; file++) {
    await sleep(fileMs)
    for (const id of ids) await server.request(`/v1/cameras/${id}/recording/stop/`, { method: 'POST' })
    if (file === files - 1) return
    await sleep(500)
    for (const id of ids) await server.request(`/v1/cameras/${id}/recording/start/`, { method: 'POST' })
  }
}
