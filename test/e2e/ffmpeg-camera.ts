// FFmpeg as an HTTP camera: an independent implementation that serves one viewer at a time.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SentStream } from './gstreamer-camera.ts'

export type FfmpegCamera = AsyncDisposable & {
  readonly url: string
  sent(): SentStream
  /** Ends the stream after a complete frame; there is no further stream. */
  end(): void
}

export type FfmpegCameraOptions = {
  readonly fps: number
  /** FFmpeg output options for encoding and container. A test tone is included if an audio codec is named. */
  readonly output: readonly string[]
  /** Its Content-Type; none if empty. */
  readonly type: string
  /** A client that reconnects gets a new stream, counted with the first. */
  readonly isLasting?: boolean
}

export async function openFfmpegCamera({ fps, output, type, isLasting }: FfmpegCameraOptions): Promise<FfmpegCamera> {
  const live = ['-re', '-f', 'lavfi', '-i']
  const audio = output.includes('-c:a') ? [...live, 'sine=sample_rate=48000:beep_factor=4'] : []
  const args = [
    ...['-nostdin', '-v', 'error', '-progress', 'pipe:2', '-stats_period', '0.2'],
    ...[...live, `testsrc2=size=320x240:rate=${fps}`, ...audio, ...output, 'pipe:1'],
  ]
  let child: ChildProcess | undefined
  let before = 0
  let frames = 0
  let hasEnded = false
  const server = createServer((_, response) => {
    response.on('error', () => {})
    if (hasEnded || (child && !isLasting)) {
      response.writeHead(404).end()
      return
    }
    const started = spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    before = frames
    response.writeHead(200, type === '' ? {} : { 'content-type': type })
    let text = ''
    started.stderr.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).slice(-2000)
      const last = [...text.matchAll(/^frame=\s*(\d+)$/gm)].at(-1)
      if (last) frames = before + Number(last[1])
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
    sent: () => ({ frames, ended: hasEnded }),
    end() {
      if (isLasting) hasEnded = true
      // FFmpeg finalizes its output on the first SIGINT.
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
