// The peer: ffmpeg copying packets into files, a process per camera, as a script on a recorder would start it.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Contestant } from './contestant.ts'
import { readFrameNumbers } from './frame-tally.ts'

/**
 * Fragments as the service writes them (a key frame begins one), but in a single file: of the forms that lose no more than a
 * group of pictures in a crash, the one that costs ffmpeg least.
 */
const inputOptions = ['-nostdin', '-loglevel', 'error', '-rtsp_transport', 'tcp']
const outputOptions = ['-c', 'copy', '-movflags', '+frag_keyframe+empty_moov+default_base_moof']

export const ffmpegCommandLine = ['ffmpeg', ...inputOptions, '-i', 'URL', ...outputOptions, 'FILE.mp4'].join(' ')

/** For instance `5.1.9`. Throws when there is no ffmpeg, and says how to get it. */
export async function findFfmpegVersion(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('ffmpeg', ['-version'])
    return /^ffmpeg version ([\w.]+)/.exec(stdout)?.[1] ?? 'of an unknown version'
  } catch (cause) {
    throw new Error('the bench compares with ffmpeg, which is not installed; on Debian: apt-get install ffmpeg', {
      cause,
    })
  }
}

export class FfmpegContestant implements Contestant, AsyncDisposable {
  readonly title = 'ffmpeg'
  readonly #urls: readonly string[]
  readonly #folder: string
  #children: ChildProcess[] = []
  #round = 0

  private constructor(urls: readonly string[], folder: string) {
    this.#urls = urls
    this.#folder = folder
  }

  static async open(urls: readonly string[]): Promise<FfmpegContestant> {
    return new FfmpegContestant(urls, await mkdtemp(join(tmpdir(), 'nightjar-bench-')))
  }

  async start(): Promise<void> {
    this.#round++
    for (const [camera, url] of this.#urls.entries()) {
      const folder = this.#folderOf(camera)
      await mkdir(folder, { recursive: true })
      const output = [...outputOptions, join(folder, `${this.#round}.mp4`)]
      this.#children.push(spawn('ffmpeg', [...inputOptions, '-i', url, ...output], { stdio: ['ignore', 2, 2] }))
    }
  }

  listPids(): readonly number[] {
    return this.#children.map(({ pid }) => pid!)
  }

  async stop(): Promise<void> {
    const running = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    this.#children = []
    // ffmpeg finishes its file on SIGINT.
    for (const child of running) child.kill('SIGINT')
    await Promise.all(running.map((child) => once(child, 'exit')))
  }

  readFrameNumbers(camera: number, sinceMs: number): Promise<number[]> {
    return readFrameNumbers(this.#folderOf(camera), sinceMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #folderOf(camera: number): string {
    return join(this.#folder, String(camera))
  }
}
