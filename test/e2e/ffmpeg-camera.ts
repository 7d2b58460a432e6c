// FFmpeg's own idea of MJPEG over HTTP as the camera of a test: a peer we did not write, for one viewer.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SentStream } from './gstreamer-camera.ts'

export type FfmpegCamera = AsyncDisposable & {
  readonly url: string
  sent(): SentStream
  /** Ends the stream after a whole picture; there is no other. */
  end(): void
}

export async function openFfmpegCamera(framesPerSecond: number): Promise<FfmpegCamera> {
  const source = `testsrc2=size=320x240:rate=${framesPerSecond}`
  const args = [
    '-nostdin',
    '-v',
    'error',
    '-re',
    '-f',
    'lavfi',
    '-i',
    source,
    '-c:v',
    'mjpeg',
    '-f',
    'mpjpeg',
    'pipe:1',
  ]
  let child: ReturnType<typeof spawn> | undefined
  let pictures = 0
  let hasEnded = false
  const server = createServer((_, response) => {
    response.on('error', () => {})
    if (child) {
      response.writeHead(404).end()
      return
    }
    const started = spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    child = started
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=ffmpeg' })
    let tail = ''
    started.stdout!.on('data', (bytes: Buffer) => {
      // Each part says how long it is. What a read cut off is looked at with the next.
      const text = tail + bytes.toString('latin1')
      const heads = [...text.matchAll(/content-length: \d+\r\n/gi)]
      pictures += heads.length
      const last = heads.at(-1)
      tail = text.slice(Math.max(text.length - 40, last ? last.index + last[0].length : 0))
    })
    started.stdout!.pipe(response)
    started.on('close', () => {
      hasEnded = true
    })
    response.on('close', () => started.kill())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/stream.mjpg`,
    sent: () => ({ pictures, ended: hasEnded }),
    // FFmpeg finishes what it writes on the first SIGINT.
    end: () => void child?.kill('SIGINT'),
    async [Symbol.asyncDispose]() {
      child?.kill()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
