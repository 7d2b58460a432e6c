// The service: the real server in a process of its own, its cameras added with the command line.

import { join } from 'node:path'
import { openServer, type ServerProcess } from '../../test/server-under-test.ts'
import type { Contestant } from './contestant.ts'
import { readFrameNumbers } from './frame-tally.ts'

/** Command lines at once while cameras are added. */
const commandsAtOnce = 2

export class NightjarContestant implements Contestant, AsyncDisposable {
  readonly title = 'Nightjar'
  readonly server: ServerProcess
  cameraIds: readonly number[] = []
  #isRunning = true

  private constructor(server: ServerProcess) {
    this.server = server
  }

  /** A running server without cameras. */
  static async open(): Promise<NightjarContestant> {
    return new NightjarContestant(await openServer('--log-level', 'warn'))
  }

  /** To a running server, which then begins to record them. */
  async addCameras(urls: readonly string[]): Promise<void> {
    const ids: number[] = []
    const rest = [...urls.entries()]
    const addNext = async () => {
      for (let next = rest.shift(); next; next = rest.shift()) {
        const [index, url] = next
        const options = ['--user', 'owner@example.com', '--name', `Load ${index}`, '--url', url, '--record', 'P1D']
        ids[index] = (await this.server.command<{ id: number }>('camera', 'add', ...options)).id
      }
    }
    await Promise.all(Array.from({ length: commandsAtOnce }, addNext))
    this.cameraIds = ids
  }

  async start(): Promise<void> {
    if (!this.#isRunning) await this.server.start()
    this.#isRunning = true
  }

  listPids(): readonly number[] {
    return [this.server.pid]
  }

  async stop(): Promise<void> {
    const code = await this.server.stop()
    this.#isRunning = false
    if (code !== 0) throw new Error(`the server ended with code ${code}:\n${this.server.log()}`)
  }

  readFrameNumbers(camera: number, sinceMs: number): Promise<number[]> {
    const id = String(this.cameraIds[camera])
    return readFrameNumbers(join(this.server.dataDir, 'archive', 'cameras', id), sinceMs)
  }

  /** What the server warned of; empty when all was well. */
  log(): string {
    return this.server.log()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
  }
}
