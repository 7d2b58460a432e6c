// GStreamer's RTSP server as a camera: an independent implementation.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type GstreamerCameraOptions = {
  readonly width?: number
  readonly height?: number
  readonly fps?: number
  /** Frames from one key frame to the next. */
  readonly gop?: number
  /** Number of frames after which each stream ends; endless by default. */
  readonly frames?: number
  /** A video codec and optionally an audio codec, `h265` or `h264+aac`, as listed in the script; `h264` by default. */
  readonly streams?: readonly string[]
  /** The only transport it allows; `tcp` by default. */
  readonly transport?: 'tcp' | 'udp'
  /** PEM file with a certificate and its key: the camera uses TLS and requires the login of `auth`. */
  readonly identity?: string
  readonly auth?: { readonly scheme: 'basic' | 'digest'; readonly user: string; readonly password: string }
}

export type SentStream = { readonly frames: number; readonly ended: boolean }

export type GstreamerCamera = AsyncDisposable & {
  /** URL of the first stream or of the named one, with user information if the camera requires a login. */
  url(stream?: string): string
  /** What each stream has sent so far. */
  sent(): Promise<Readonly<Record<string, SentStream>>>
  /** Ends all streams, as if there were no more frames. */
  end(): Promise<void>
}

const script = fileURLToPath(new URL('./gstreamer-camera.py', import.meta.url))

export async function openGstreamerCamera(options: GstreamerCameraOptions = {}): Promise<GstreamerCamera> {
  const { width, height, fps, gop, frames, streams = ['h264'], transport, identity, auth } = options
  const named = { width, height, fps, gop, frames, streams: streams.join(','), transport, identity }
  const args = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  )
  if (auth) args.push('--scheme', auth.scheme, '--user', auth.user, '--password', auth.password)
  const child = spawn('/usr/bin/python3', [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const nextLine = () =>
    Promise.race([
      once(lines, 'line').then(([line]) => line as string),
      exited.then(([code]) => Promise.reject(new Error(`the GStreamer camera ended with code ${code}`))),
    ])
  const { port } = JSON.parse(await nextLine()) as { port: number }
  const login = auth ? `${auth.user}:${auth.password}@` : ''
  const ask = async (question: string) => {
    const line = nextLine()
    child.stdin.write(`${question}\n`)
    return JSON.parse(await line) as Record<string, SentStream>
  }
  return {
    url: (stream = streams[0]!) => `${identity ? 'rtsps' : 'rtsp'}://${login}127.0.0.1:${port}/${stream}`,
    sent: () => ask(''),
    async end() {
      await ask('end')
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      child.kill()
      await exited
    },
  }
}
