// FFmpeg as an HTTP camera: an independent implementation that serves one viewer at a time.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
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
  /**
   * Sends a clip of so many seconds that is encoded beforehand, once for all runs. Otherwise it encodes while it sends,
   * and leaves out what it has no CPU time for.
   */
  readonly clipSeconds?: number
}

const report = ['-nostdin', '-v', 'error', '-progress', 'pipe:2', '-stats_period', '0.2']

export async function openFfmpegCamera(options: FfmpegCameraOptions): Promise<FfmpegCamera> {
  const { output, type, isLasting, clipSeconds } = options
  const muxing = output.slice(output.lastIndexOf('-f'))
  const [input, encoding] =
    clipSeconds === undefined
      ? [writeInput(options, ['-re']), output]
      : [
          ['-re', ...(await encodeClip(options, clipSeconds))],
          ['-c', 'copy', ...muxing],
        ]
  const args = [...report, ...input, ...encoding, 'pipe:1']
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

function writeInput({ fps, output }: FfmpegCameraOptions, pace: readonly string[]): string[] {
  const source = [...pace, '-f', 'lavfi', '-i']
  const audio = output.includes('-c:a') ? [...source, 'sine=sample_rate=48000:beep_factor=4'] : []
  return [...source, `testsrc2=size=320x240:rate=${fps}`, ...audio]
}

/** Returns the input options for the clip, which is kept under a name made of the command that encoded it. */
async function encodeClip(options: FfmpegCameraOptions, seconds: number): Promise<string[]> {
  const args = [...writeInput(options, []), '-t', `${seconds}`, ...options.output]
  const format = options.output.at(-1)!
  const folder = join(import.meta.dirname, '../../build/clips')
  const file = join(folder, createHash('sha256').update(args.join('\n')).digest('hex').slice(0, 16))
  if (!existsSync(file)) {
    await mkdir(folder, { recursive: true })
    // Tests in other processes may encode the same clip.
    const unfinished = `${file}.${process.pid}`
    await promisify(execFile)('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, unfinished])
    await rename(unfinished, file)
  }
  // A bare stream does not say how fast it is.
  const rate = format === 'h264' ? ['-framerate', `${options.fps}`] : []
  return [...rate, '-f', format, '-i', file]
}
