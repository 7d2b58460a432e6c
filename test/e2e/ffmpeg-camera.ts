// FFmpeg's own idea of a stream over HTTP as the camera of a test: a peer we did not write, for one viewer at a time.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SentStream } from './gstreamer-camera.ts'

export type FfmpegCamera = AsyncDisposable & {
  readonly url: string
  sent(): SentStream
  /** Ends the stream after a whole picture; there is no other. */
  end(): void
}

export type FfmpegCameraOptions = {
  readonly fps: number
  /** How it is encoded and what holds it: FFmpeg's options for its output. A tone goes along when a codec for sound is named. */
  readonly output: readonly string[]
  /** Its Content-Type; none when empty. */
  readonly type: string
  /** Who comes again gets a stream again, counted with the first. */
  readonly isLasting?: boolean
}

export async function openFfmpegCamera({ fps, output, type, isLasting }: FfmpegCameraOptions): Promise<FfmpegCamera> {
  const live = ['-re', '-f', 'lavfi', '-i']
  const sound = output.includes('-c:a') ? [...live, 'sine=sample_rate=48000:beep_factor=4'] : []
  const args = [
    ...['-nostdin', '-v', 'error', '-progress', 'pipe:2', '-stats_period', '0.2'],
    ...[...live, `testsrc2=size=320x240:rate=${fps}`, ...sound, ...output, 'pipe:1'],
  ]
  let child: ChildProcess | undefined
  let before = 0
  let pictures = 0
  let hasEnded = false
  const server = createServer((_, response) => {
    response.on('error', () => {})
    if (hasEnded || (child && !isLasting)) {
      response.writeHead(404).end()
      return
    }
    const started = spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    before = pictures
    response.writeHead(200, type === '' ? {} : { 'content-type': type })
    let text = ''
    started.stderr.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).slice(-2000)
      const last = [...text.matchAll(/^frame=\s*(\d+)$/gm)].at(-1)
      if (last) pictures = before + Number(last[1])
    })
    started.stdout.pipe(response)
    started.on('close', () => {
      hasEnded ||= !isLasting
    })
    response.on('close', () => started.kill('SIGKILL'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/stream`,
    sent: () => ({ pictures, ended: hasEnded }),
    end() {
      if (isLasting) hasEnded = true
      // FFmpeg finishes what it writes on the first SIGINT.
      child?.kill('SIGINT')
    },
    async [Symbol.asyncDispose]() {
      child?.kill('SIGKILL')
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
