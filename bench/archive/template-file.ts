// One real recorded minute of a camera, made by the real recorder, to be in an archive again and again under other names.

import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ByteBudget } from '../../server/base/byte-budget.ts'
import { systemClock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import type { Fragment } from '../../server/model/segment.ts'
import type { OpenSegment } from '../../server/model/segment-views.ts'
import { CameraRecorder } from '../../server/recorder/recorder.ts'
import { oneTarget } from '../../test/support/archive/one-place.ts'
import { syntheticFormat, syntheticFrames, syntheticStartMs } from '../../test/support/media/synthetic-frames.ts'

export type TemplateFile = {
  readonly path: string
  readonly segment: OpenSegment
  readonly fragments: readonly Fragment[]
  readonly checksum: number
  readonly bytes: number
}

/** About 2 Mbit/s at 25 pictures a second, a key frame each second. */
const templatePicture = { width: 480, height: 320 } as const
const seconds = 60

/** In `folder`, as `{cameraId}.mp4`. */
export async function recordTemplate(
  folder: string,
  cameraId: number,
  picture: { readonly width: number; readonly height: number } = templatePicture,
): Promise<TemplateFile> {
  const archiveDir = await mkdtemp(join(folder, 'template-'))
  const fragments: Fragment[] = []
  let segment: OpenSegment | undefined
  let checksum = 0
  let indexBytes = 0
  const recorder = new CameraRecorder({
    cameraId,
    targets: oneTarget(archiveDir),
    clock: systemClock,
    log: silentLogger,
    segmentMs: 100 * seconds * 1000,
    minPendingBytes: 2 ** 30,
    pendingBudget: new ByteBudget(2 ** 31),
    events: {
      segmentOpened: (opened) => {
        segment = opened
      },
      fragmentWritten: (_, __, fragment) => void fragments.push(fragment),
      segmentClosed: (_, __, sum, length) => {
        checksum = sum
        indexBytes = length
      },
      segmentBroken: (_, path) => {
        throw new Error(`the disk failed at ${path}`)
      },
      statusChanged: () => {},
      gapChanged: () => {},
    },
  })
  const startMs = syntheticStartMs
  recorder.push({ kind: 'start', runId: 'template', format: syntheticFormat(picture) })
  for (const frame of syntheticFrames({ ...picture, startMs })) {
    if (frame.dts90k >= seconds * 90_000) break
    recorder.push(frame)
  }
  await recorder.close()
  if (!segment || fragments.length !== seconds)
    throw new Error(`expected ${seconds} fragments, got ${fragments.length}`)
  const path = join(folder, `${cameraId}.mp4`)
  await rename(join(archiveDir, segment.path), path)
  await rm(archiveDir, { recursive: true })
  const last = fragments.at(-1)!
  return { path, segment, fragments, checksum, bytes: last.offset + last.bytes + indexBytes }
}
