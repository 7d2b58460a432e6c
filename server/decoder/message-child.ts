// One run of a process that decodes, seen from the server: messages go in, messages come out, and it ends.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { parse } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { errorChain } from '../base/error.ts'
import { CpuWatch, listChildren } from './cpu-watch.ts'
import { type Isolation, writeCommand } from './isolation/isolation.ts'
import { MessageReader } from './message-stream.ts'

export type MessageChildOptions = {
  /** The file to run. */
  readonly program: URL
  readonly args?: readonly string[]
  readonly isolation: Isolation
  /** What it may take of memory beyond that of Node itself, where that is limited. */
  readonly memoryBytes: number
  /** Ends the process when it takes more of one processor for a while; default: no limit. For processes that have no deadline. */
  readonly maxCpuShare?: number
  /** Over which that is averaged; default: 20 s. */
  readonly cpuWindowMs?: number
  /** Without its length. What it throws ends the process. */
  readonly onMessage: (message: Uint8Array) => void
  /** Told once, with the reason; not after `stop`. */
  readonly onExit: (reason: string) => void
  /** All that was sent and waited has been read. */
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
    // It needs nothing from our environment, which may hold secrets. (Windows cannot start a program without its SystemRoot.)
    const { SystemRoot } = process.env
    const child = spawn(command.file, command.args, {
      stdio: ['pipe', 'pipe', 'pipe', ...(command.filter ? (['pipe'] as const) : [])],
      env: SystemRoot === undefined ? {} : { SystemRoot },
      cwd: parse(process.cwd()).root,
      ...(command.userId !== undefined && { uid: command.userId, gid: command.userId }),
      // A session of its own: it has no terminal, and Ctrl-C in ours does not reach what sets up the isolation.
      detached: process.platform !== 'win32',
      windowsHide: true,
    }) as ChildProcessByStdio<Writable, Readable, Readable>
    this.#process = child
    if (command.filter) {
      const input = child.stdio[3] as Writable
      input.on('error', () => {}) // the exit tells
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
      if (child.pid !== undefined) killGroup(child.pid) // who killed bubblewrap alone may have left its child
    })
    child.on('error', (error) => end(errorChain(error)))
    // Not 'exit', which may come before its last message has been read.
    child.on('close', (code, signal) => end(describeEnd(code, signal)))
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

  /**
   * Bubblewrap waits for its child and then ends; killed itself, it would leave a zombie to the first process of the system, which may be
   * one that waits for nobody, as in containers. While it sets up it has no child, or one that waits for it: then the group goes.
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

  /** Ends the process without telling `onExit`; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#kill()
    await this.#exited.promise
  }
}

/** Bubblewrap tells of a signal as shells do. */
function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  const told = Object.entries(constants.signals).find(([, number]) => code === 128 + number)
  const name = signal ?? told?.[0]
  return name === undefined ? `exit code ${code}` : `killed by ${name}`
}

function killGroup(leader: number): void {
  kill(process.platform === 'win32' ? leader : -leader)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
