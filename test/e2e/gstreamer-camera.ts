// GStreamer's RTSP server as the camera of a test: a peer we did not write.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type GstreamerCameraOptions = {
  readonly port?: number
  readonly width?: number
  readonly height?: number
  readonly fps?: number
  /** Frames from one key frame to the next. */
  readonly gop?: number
  readonly hasSound?: boolean
  readonly auth?: { readonly scheme: 'basic' | 'digest'; readonly user: string; readonly password: string }
}

export type GstreamerCamera = AsyncDisposable & {
  /** With user information where the camera asks for it. */
  readonly url: string
}

const script = fileURLToPath(new URL('./gstreamer-camera.py', import.meta.url))

export async function openGstreamerCamera(options: GstreamerCameraOptions = {}): Promise<GstreamerCamera> {
  const { width, height, fps, gop, hasSound, auth } = options
  const args = Object.entries({ width, height, fps, gop }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  )
  if (hasSound) args.push('--sound')
  if (auth) args.push('--scheme', auth.scheme, '--user', auth.user, '--password', auth.password)
  const child = spawn('/usr/bin/python3', [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const firstLine = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => line as string),
    exited.then(([code]) => Promise.reject(new Error(`the GStreamer camera ended with code ${code}`))),
  ])
  const { port } = JSON.parse(firstLine) as { port: number }
  const login = auth ? `${auth.user}:${auth.password}@` : ''
  return {
    url: `rtsp://${login}127.0.0.1:${port}/camera`,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      child.kill()
      await exited
    },
  }
}
