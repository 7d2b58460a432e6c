// One run of a process that decodes, seen from the server: messages go in, messages come out, and it ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { errorChain } from '../base/error.ts'
import { MessageReader } from './message-stream.ts'

export type MessageChildOptions = {
  /** The file to run. */
  readonly program: URL
  readonly args?: readonly string[]
  /** Without its length. What it throws ends the process. */
  readonly onMessage: (message: Uint8Array) => void
  /** Told once, with the reason; not after `stop`. */
  readonly onExit: (reason: string) => void
  /** All that was sent and waited has been read. */
  readonly onDrain?: () => void
}

const maxStderrBytes = 2000

export class MessageChild {
  readonly #process: ChildProcess
  readonly #exited = Promise.withResolvers<void>()
  #isStopping = false
  #stderr = ''

  constructor({ program, args = [], onMessage, onExit, onDrain }: MessageChildOptions) {
    // It needs nothing from our environment, which may hold secrets. (Windows cannot start a program without its SystemRoot.)
    const { SystemRoot } = process.env
    const child = spawn(process.execPath, ['--max-old-space-size=128', fileURLToPath(program), ...args], {
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
    // Not 'exit', which may come before its last message has been read.
    child.on('close', (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code}`))
    child.stdin.on('error', () => {}) // the exit tells
    if (onDrain) child.stdin.on('drain', onDrain)
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-maxStderrBytes)
    })
    const reader = new MessageReader()
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#isStopping) return
      try {
        for (const message of reader.push(chunk)) onMessage(message)
      } catch (error) {
        end(errorChain(error))
      }
    })
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Bytes that were sent and that it has not read. */
  get unsentBytes(): number {
    return this.#process.stdin!.writableLength
  }

  /** A whole message, in parts. */
  send(parts: readonly Uint8Array[]): void {
    const { stdin } = this.#process
    stdin!.cork()
    for (const part of parts) stdin!.write(part)
    stdin!.uncork()
  }

  /** Nothing more is sent; what was sent is still read. */
  endInput(): void {
    this.#process.stdin!.end()
  }

  /** Ends the process without telling `onExit`; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#process.kill('SIGKILL')
    await this.#exited.promise
  }
}
