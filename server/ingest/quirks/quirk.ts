// A camera that does not do as the RFCs say, as a script for the tests of this folder; and what several of them need.

import type { RtspRequest } from '../../media/rtsp/message.ts'
import { type Script, type ScriptedAnswer, type Sender, videoSdp } from '../rtsp/scripted-camera.ts'
import type { Watched } from '../session/watch-camera.ts'

export type Quirk = {
  readonly camera: string
  readonly symptom: string
  readonly script: Script | (() => Script)
  readonly account?: { readonly username: string; readonly password: string }
  /** Hours pass in seconds: for what happens while a session lasts. */
  readonly isHasty?: boolean
  /** Pictures to wait for. */
  readonly pictures?: number
  readonly check?: (watched: Watched, requests: readonly string[]) => void
}

/** Pictures of `play`. */
export const sent = 25

/** Pictures each 40 ms of the camera's clock, sent at once; a key frame each 5. */
export function play(sender: Sender): void {
  for (let i = 0; i < sent; i++) sender.picture(1_000_000 + i * 3600, i % 5 === 0)
}

/** Pictures at the pace of the hasty clock, until the connection ends. */
export function playOn(sender: Sender): void {
  let i = 0
  const timer = setInterval(() => sender.picture(1_000_000 + i * 3600 * 20, i++ % 5 === 0), 20)
  sender.socket.on('close', () => clearInterval(timer))
}

export const onlyAt = (expected: (url: string) => boolean, method: string) => (request: RtspRequest) =>
  request.method === method && !expected(request.url) ? { status: 404 } : undefined

export const describeWith =
  (headers: (url: string) => [string, string][], sdp = videoSdp) =>
  (request: RtspRequest) =>
    request.method === 'DESCRIBE' ? { headers: headers(request.url), body: sdp } : undefined

export const answerSetup =
  (transport: string | undefined) =>
  (request: RtspRequest): ScriptedAnswer | undefined =>
    request.method === 'SETUP'
      ? { headers: [['Session', '1'], ...(transport === undefined ? [] : ([['Transport', transport]] as const))] }
      : undefined
