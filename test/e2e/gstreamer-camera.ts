// GStreamer's RTSP server as the camera of a test: a peer we did not write.

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
  /** Pictures of each stream, after which it ends; without end unless given. */
  readonly frames?: number
  /** A kind of video and perhaps one of sound, `h265` or `h264+aac`, as the script lists them; `h264` alone unless given. */
  readonly streams?: readonly string[]
  /** The only one it allows; `tcp` unless given. */
  readonly transport?: 'tcp' | 'udp'
  /** File with a certificate and its key, PEM: the camera speaks TLS, and asks for the login of `auth`. */
  readonly identity?: string
  readonly auth?: { readonly scheme: 'basic' | 'digest'; readonly user: string; readonly password: string }
}

export type SentStream = { readonly pictures: number; readonly ended: boolean }

export type GstreamerCamera = AsyncDisposable & {
  /** Of the first stream, or of the one named, with user information where the camera asks for it. */
  url(stream?: string): string
  /** What each stream has sent so far. */
  sent(): Promise<Readonly<Record<string, SentStream>>>
  /** Ends all streams, as if there were no more pictures. */
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
