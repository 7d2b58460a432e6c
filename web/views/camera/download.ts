// Exports a marked range as a file: its URL and its size.

import { type Client, NightjarError } from '../../../sdk/index.ts'
import type { CameraKind } from '../../app/camera-queries.ts'
import { recordingsOf, writeTime } from './footage-queries.ts'

export type PreparedDownload = {
  readonly url: string
  /** Undefined if the server does not say. */
  readonly bytes: number | undefined
}

/** Sends a HEAD request first, so that an error appears in the page and not in the browser's downloads. */
export async function prepareDownload(
  client: Client,
  kind: CameraKind,
  cameraId: number,
  range: { readonly startMs: number; readonly endMs: number },
  filename: string,
): Promise<PreparedDownload> {
  const query = { start: writeTime(range.startMs), end: writeTime(range.endMs), filename }
  const { url } = await recordingsOf(client, kind).createDownload(cameraId, query)
  let answer: Response
  try {
    answer = await fetch(url, { method: 'HEAD', cache: 'no-store' })
  } catch (cause) {
    throw new NightjarError({ status: 0, title: 'network_error', detail: 'no answer', cause })
  }
  if (!answer.ok) {
    const title = answer.status === 404 ? 'not_found' : answer.status === 503 ? 'unavailable' : 'unknown'
    throw new NightjarError({ status: answer.status, title, detail: '' })
  }
  const length = Number(answer.headers.get('content-length') ?? Number.NaN)
  return { url, bytes: Number.isNaN(length) ? undefined : length }
}

/**
 * A file has one format. Returns the moment at which the camera changed its format within the range; undefined for
 * other errors.
 */
export function findFormatChange(error: unknown): number | undefined {
  if (!(error instanceof NightjarError) || error.status !== 400) return undefined
  const [moment] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(JSON.stringify(error.errors ?? '')) ?? []
  return moment === undefined ? undefined : Date.parse(moment)
}
