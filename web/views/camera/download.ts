// A marked range as a file: where it is, and how large it will be.

import { type Client, NightjarError } from '../../../sdk/index.ts'
import type { CameraKind } from '../../app/camera-queries.ts'
import { recordingsOf, writeTime } from './footage-queries.ts'

export type PreparedDownload = {
  readonly url: string
  /** Undefined when the server does not say. */
  readonly bytes: number | undefined
}

/** Asks for the head first: what is wrong is told in the page, not in the browser's list of downloads. */
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

/** One file has one format. The moment at which the camera changed its own within the range; undefined for other failures. */
export function findFormatChange(error: unknown): number | undefined {
  if (!(error instanceof NightjarError) || error.status !== 400) return undefined
  const [moment] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(JSON.stringify(error.errors ?? '')) ?? []
  return moment === undefined ? undefined : Date.parse(moment)
}
