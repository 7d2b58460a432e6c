// One run of a decoding process, as the server sees it: sends and receives messages, and reports the end of the
// process.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { parse } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { errorChain } from '../base/error.ts'
import { CpuWatch, listChildren } from './cpu-watch.ts'
import { withoutInherited } from './inherited-descriptors.ts'
import { type Isolation, writeCommand } from './isolation/isolation.ts'
import { MessageReader } from './message-stream.ts'

export type MessageChildOptions = {
  /** The program file. */
  readonly program: URL
  readonly args?: readonly string[]
  readonly isolation: Isolation
  /** Memory limit beyond the needs of Node itself, where the system supports limits. */
  readonly memoryBytes: number
  /**
   * Ends the process when its average share of a processor exceeds this. Default: no limit. For processes without a
   * deadline.
   */
  readonly maxCpuShare?: number
  /** The averaging window. Default: 20 s. */
  readonly cpuWindowMs?: number
  /** Called with the message without its length. An exception ends the process. */
  readonly onMessage: (message: Uint8Array) => void
  /** Called once, with the reason. Not called after `stop`. */
  readonly onExit: (reason: string) => void
  /** Called when all buffered input has been read. */
  readonly onDrain?: () => void
}

const maxStderrBytes = 2000

/** Bubblewrap ends within milliseconds of its child. */
const groupDelayMs = 1000

export class MessageChild {
  readonly #process: ChildProcess
  readonly #exited = Promise.withResolvers<void>()
  readonly #isSandboxed: boolean
  #groupTimer: NodeJS.Timeout | undefined
  #cpuWatch: CpuWatch | undefined
  #isStopping = false
  #stderr = ''

  constructor(options: MessageChildOptions) {
    const { program, args = [], isolation, memoryBytes, maxCpuShare, cpuWindowMs, onMessage, onExit, onDrain } = options
    this.#isSandboxed = isolation.tools.bwrap !== undefined
    const command = writeCommand(isolation, { file: program, args, memoryBytes })
    // The process needs nothing from our environment, which may contain secrets. (Windows needs SystemRoot to start a
    // program.)
    const { SystemRoot } = process.env
    const child = spawn(command.file, command.args, {
      stdio: withoutInherited(['pipe', 'pipe', 'pipe', ...(command.filter ? (['pipe'] as const) : [])]),
      env: SystemRoot === undefined ? {} : { SystemRoot },
      cwd: parse(process.cwd()).root,
      ...(command.userId !== undefined && { uid: command.userId, gid: command.userId }),
      // The process gets its own session: it has no terminal, and Ctrl-C in the server's terminal does not reach the
      // isolation set-up.
      detached: process.platform !== 'win32',
      windowsHide: true,
    }) as ChildProcessByStdio<Writable, Readable, Readable>
    this.#process = child
    if (command.filter) {
      const input = child.stdio[3] as Writable
      input.on('error', () => {}) // the exit handler reports it
      input.end(command.filter)
    }
    const end = (reason: string) => {
      this.#exited.resolve()
      this.#cpuWatch?.[Symbol.dispose]()
      if (this.#isStopping) return
      this.#isStopping = true
      this.#kill()
      onExit(this.#stderr === '' ? reason : `${reason}: ${this.#stderr.trim()}`)
    }
    if (child.pid !== undefined && maxCpuShare !== undefined) {
      this.#cpuWatch = new CpuWatch({
        ...{ pid: child.pid, maxShare: maxCpuShare },
        ...(cpuWindowMs !== undefined && { windowMs: cpuWindowMs }),
        onExceeded: () => end('it kept a processor busy'),
      })
    }
    child.on('exit', () => {
      clearTimeout(this.#groupTimer)
      if (child.pid !== undefined) killGroup(child.pid) // a killed bubblewrap may have left its child
    })
    child.on('error', (error) => end(errorChain(error)))
    // Use 'close', because 'exit' may come before the last message has been read.
    child.on('close', (code, signal) => end(describeEnd(code, signal)))
    child.stdin.on('error', () => {}) // the exit handler reports it
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

  /** Bytes that were sent and have not been read yet. */
  get unsentBytes(): number {
    return this.#process.stdin!.writableLength
  }

  /** Sends one complete message, given in parts. */
  send(parts: readonly Uint8Array[]): void {
    const { stdin } = this.#process
    stdin!.cork()
    for (const part of parts) stdin!.write(part)
    stdin!.uncork()
  }

  /** Closes the input. Data that was already sent is still read. */
  endInput(): void {
    this.#process.stdin!.end()
  }

  /**
   * Bubblewrap waits for its child and then ends. If bubblewrap itself were killed, it would leave a zombie to the init
   * process, which may not wait for children, for example in containers. During set-up, bubblewrap has no child, or one
   * that waits for it. Then the whole group is killed.
   */
  #kill(): void {
    const { pid } = this.#process
    if (pid === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const children = this.#isSandboxed ? listChildren(pid) : []
    if (children.length === 0) {
      killGroup(pid)
      return
    }
    for (const child of children) kill(child)
    this.#groupTimer ??= setTimeout(() => killGroup(pid), groupDelayMs)
  }

  /** Ends the process without calling `onExit`. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#kill()
    await this.#exited.promise
  }
}

/** Bubblewrap reports signals as shells do. */
function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  const signalEntry = Object.entries(constants.signals).find(([, number]) => code === 128 + number)
  const name = signal ?? signalEntry?.[0]
  return name === undefined ? `exit code ${code}` : `killed by ${name}`
}

function killGroup(leader: number): void {
  kill(process.platform === 'win32' ? leader : -leader)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended.
  }
}
