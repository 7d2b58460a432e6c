// One run of the decoder process, seen from the server: requests go in, replies come out, and it ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { errorChain } from '../base/error.ts'
import { type DecodeReply, type DecodeRequest, MessageReader, parseReply, writeRequest } from './decoder-protocol.ts'

export type DecoderChildOptions = {
  readonly onReply: (reply: DecodeReply) => void
  /** Told once, with the reason; not after `stop`. */
  readonly onExit: (reason: string) => void
}

const processPath = fileURLToPath(new URL('./decoder-process.ts', import.meta.url))
const maxStderrBytes = 2000

export class DecoderChild {
  readonly #process: ChildProcess
  readonly #exited = Promise.withResolvers<void>()
  #isStopping = false
  #stderr = ''

  constructor({ onReply, onExit }: DecoderChildOptions) {
    // It needs nothing from our environment, which may hold secrets. (Windows cannot start a program without its SystemRoot.)
    const { SystemRoot } = process.env
    const child = spawn(process.execPath, ['--max-old-space-size=128', processPath], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: SystemRoot === undefined ? {} : { SystemRoot },
      windowsHide: true,
    })
    this.#process = child
    const end = (reason: string) => {
      this.#exited.resolve()
      if (this.#isStopping) return
      this.#isStopping = true
      child.kill('SIGKILL')
      onExit(this.#stderr === '' ? reason : `${reason}: ${this.#stderr.trim()}`)
    }
    child.on('error', (error) => end(errorChain(error)))
    child.on('exit', (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code}`))
    child.stdin.on('error', () => {}) // the exit tells
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-maxStderrBytes)
    })
    const reader = new MessageReader()
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#isStopping) return
      try {
        for (const message of reader.push(chunk)) onReply(parseReply(message))
      } catch (error) {
        end(errorChain(error))
      }
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  send(request: DecodeRequest): void {
    const { stdin } = this.#process
    stdin!.cork()
    for (const part of writeRequest(request)) stdin!.write(part)
    stdin!.uncork()
  }

  /** Ends the process without telling `onExit`; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#process.kill('SIGKILL')
    await this.#exited.promise
  }
}
