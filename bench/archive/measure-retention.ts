// Shortens how long some cameras keep their footage, and watches the server delete it.

import { askTimeline, type Target } from './measure-index.ts'

export type RetentionResult = {
  readonly segments: number
  readonly steps: number
  readonly seconds: number
  readonly stepP95Ms: number
  /** Timelines asked for meanwhile. */
  readonly timelineMs: number[]
}

/** What goes, of how many cameras. */
export const doomed = { cameras: 4, lengthMs: 2 * 3_600_000 } as const
const timeoutMs = 300_000

export async function measureRetention(target: Target): Promise<RetentionResult> {
  const { server, cameraIds, generated, say } = target
  say('Retention …')
  const ids = cameraIds.slice(0, doomed.cameras)
  const expected = Math.floor((doomed.lengthMs / 60_000) * ids.length * 0.95)
  const keptSeconds = Math.round((Date.now() - generated.startMs - doomed.lengthMs) / 1000)
  for (const id of ids) await server.command('camera', 'record', String(id), '--retention', `PT${keptSeconds}S`)
  const timelineMs: number[] = []
  const begunMs = performance.now()
  let deletingMs: number | undefined
  for (;;) {
    const segments = await readMetric(target, 'retention_segments_total')
    if (segments > 0) deletingMs ??= performance.now()
    if (deletingMs !== undefined) {
      // The others, whose footage is whole, when there are any.
      const others = cameraIds.slice(ids.length)
      timelineMs.push(await askTimeline({ ...target, cameraIds: others.length > 0 ? others : cameraIds }))
    }
    if (segments >= expected) {
      const seconds = (performance.now() - deletingMs!) / 1000
      const steps = await readMetric(target, 'retention_steps_total')
      const stepP95Ms = (await readMetric(target, 'retention_step_p95_seconds')) * 1000
      return { segments, steps, seconds, stepP95Ms, timelineMs }
    }
    if (performance.now() - begunMs > timeoutMs) throw new Error(`only ${segments} of ${expected} files were deleted`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function readMetric({ server, client }: Target, name: string): Promise<number> {
  const { body } = await client.get(new URL('/metrics', server.url).href)
  const value = new RegExp(`^nightjar_${name} (\\S+)$`, 'm').exec(body.toString())?.[1]
  if (value === undefined) throw new Error(`expected the metric ${name}`)
  return Number(value)
}
