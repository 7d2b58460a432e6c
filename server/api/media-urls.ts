// URLs of live and recorded media. Paths end in the extension that players recognize; the query is a signed token, see
// auth/media-token.ts.

import type { Caller } from '../auth/caller.ts'
import type { MediaKind, MediaTokens } from '../auth/media-token.ts'
import type { LiveView } from '../model/live-view.ts'

/** The part after `/media/cameras/{id}/`. */
export const mediaFiles = {
  mjpeg: 'live.mjpeg',
  mp4: 'live.mp4',
  mpegts: 'live.ts',
  hls: 'live.m3u8',
  live_snapshot: 'live.jpg',
  snapshot: 'snapshot.jpg',
  recorded_image: 'recorded.jpg',
} as const satisfies Record<MediaKind, string>

export type CameraUrls = { readonly [Kind in Exclude<MediaKind, 'recorded_image'>]: string }

const noView: LiveView = {}

export class MediaUrls {
  readonly #origin: (cameraId: number) => string
  readonly #tokens: Pick<MediaTokens, 'sign'>

  /** `origin`: what the URLs of a camera begin with, without a trailing slash. */
  constructor(origin: (cameraId: number) => string, tokens: Pick<MediaTokens, 'sign'>) {
    this.#origin = origin
    this.#tokens = tokens
  }

  /** For this caller only. The view is part of what is signed, where it applies. */
  forCamera(cameraId: number, caller: Caller, view: LiveView): CameraUrls {
    const { refreshRate: _, ...size } = view
    const url = (kind: MediaKind, of: LiveView) => this.#sign(kind, cameraId, caller, of)
    return {
      mjpeg: url('mjpeg', view),
      mp4: url('mp4', noView),
      mpegts: url('mpegts', noView),
      hls: url('hls', noView),
      live_snapshot: url('live_snapshot', size),
      snapshot: url('snapshot', noView),
    }
  }

  /** Images of all recorded moments in this size, for this caller only. The client appends the moment. */
  forRecordedImages(cameraId: number, caller: Caller, size: LiveView): string {
    return this.#sign('recorded_image', cameraId, caller, size)
  }

  #sign(kind: MediaKind, cameraId: number, { userId, credential }: Caller, view: LiveView): string {
    const token = this.#tokens.sign({ kind, cameraId, userId, credential, view })
    return `${this.#origin(cameraId)}${mediaPath(cameraId, mediaFiles[kind])}?token=${token}`
  }
}

export const mediaPath = (cameraId: number, file: string): string => `/media/cameras/${cameraId}/${file}`
