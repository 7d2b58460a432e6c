// Attacks that a compromised decoding process might try, for the tests. It runs with the same command as a decoding
// process, except for the program file. It reports the outcome of each attack: 'done' or the error code.

import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'

export type AttackTargets = {
  readonly secretFile: string
  readonly serverPid: number
  readonly tcpPort: number
  readonly udpPort: number
  readonly socketFile: string
  /** In the temporary folder of the machine, which a sandbox replaces by its own. */
  readonly temporaryFile: string
  /** A name in the abstract namespace of Unix sockets, which file permissions do not protect. */
  readonly socketName: string
  /** The amount of memory that the attack tries to fill. */
  readonly memoryBytes: number
}

export type Attack = keyof typeof attacks
export type AttackOutcomes = { readonly [name in Attack]: string }

const targets = JSON.parse(process.argv[2]!) as AttackTargets
const chosen = process.argv[3]!.split(',')
const { secretFile, serverPid } = targets

const attacks = {
  'read the secret': () => void readFileSync(secretFile),
  'list the data folder': () => void readdirSync(dirname(secretFile)),
  'read the password file': () => void readFileSync('/etc/passwd'),
  'write into the data folder': () => writeFileSync(join(dirname(secretFile), 'left-behind'), 'x'),
  'write into the program': () => writeFileSync(new URL('left-behind', import.meta.url), 'x'),
  'write a temporary file': () => writeFileSync(targets.temporaryFile, 'x'),
  'read the environment of the server': () => void readFileSync(`/proc/${serverPid}/environ`),
  'read the memory of the server': () => void openSync(`/proc/${serverPid}/mem`, 'r'),
  'signal the server': () => void process.kill(serverPid, 0),
  'connect to a port': async () => {
    const socket = connect(targets.tcpPort, '127.0.0.1')
    await once(socket, 'connect').finally(() => socket.destroy())
  },
  'connect to a Unix socket': async () => {
    const socket = connect(targets.socketFile)
    await once(socket, 'connect').finally(() => socket.destroy())
  },
  'connect to an abstract Unix socket': async () => {
    const socket = connect(`\0${targets.socketName}`)
    await once(socket, 'connect').finally(() => socket.destroy())
  },
  'send a datagram': async () => {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.send('x', targets.udpPort, '127.0.0.1', (error) => (error ? reject(error) : resolve()))
    }).finally(() => socket.close())
  },
  'start a process': async () => {
    const child = spawn(process.execPath, ['-e', ''])
    await once(child, 'exit')
  },
  // libuv ends the process when it cannot start them.
  'start two hundred threads': async () => {
    process.env.UV_THREADPOOL_SIZE = '200'
    await stat(import.meta.filename)
  },
  'start a worker': async () => {
    const worker = new Worker('', { eval: true })
    await once(worker, 'exit')
  },
  'open a thousand files': () => {
    for (let i = 0; i < 1000; i++) openSync(process.execPath, 'r')
  },
  hang: () => {
    for (;;);
  },
  // Last, because the process may end when it may not allocate the memory.
  'fill the memory': () => {
    const held: Buffer[] = []
    for (let bytes = 0; bytes < targets.memoryBytes; bytes += 2 ** 26) held.push(Buffer.alloc(2 ** 26, 1))
  },
}

/** What the process sees without attacking. */
export type Surroundings = {
  readonly environment: readonly string[]
  readonly descriptors: readonly string[]
  readonly processes: readonly number[] | undefined
  readonly userId: number
}

function findSurroundings(): Surroundings {
  return {
    environment: Object.keys(process.env),
    descriptors:
      attempt(() =>
        readdirSync('/proc/self/fd').flatMap((fd) => attempt(() => readlinkSync(`/proc/self/fd/${fd}`)) ?? []),
      ) ?? [],
    processes: attempt(() => readdirSync('/proc').flatMap((name) => Number(name) || [])),
    userId: process.getuid!(),
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function report(message: unknown): void {
  const text = Buffer.from(JSON.stringify(message))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  process.stdout.write(Buffer.concat([length, text]))
}

report({ surroundings: findSurroundings() })
for (const [name, attack] of Object.entries(attacks)) {
  if (!chosen.includes(name)) continue
  const outcome = await Promise.resolve()
    .then(attack)
    .then(
      () => 'done',
      (error) => (error as NodeJS.ErrnoException).code ?? String(error),
    )
  report({ name, outcome })
}
report({ name: 'end' })
setInterval(() => {}, 1000)
