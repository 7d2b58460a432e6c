// Plays the server for the isolation tests, as the user that starts it: it has a secret, listens on sockets, opens the
// isolation like the server, runs test-attacks.ts in it and prints the outcomes.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ListenOptions } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Isolation, IsolationReport } from '../../../server/decoder/isolation/isolation.ts'
import { type IsolationMode, openIsolation } from '../../../server/decoder/isolation/open-isolation.ts'
import type {
  Attack,
  AttackOutcomes,
  AttackTargets,
  Surroundings,
} from '../../../server/decoder/isolation/test-attacks.ts'
import { MessageChild } from '../../../server/decoder/message-child.ts'

export type AttackedOptions = {
  readonly mode: IsolationMode
  readonly toolFolders?: readonly string[]
  /** Disables Node's permission model, which does not restrict native code. */
  readonly isNative: boolean
  readonly attacks: readonly Attack[]
  /** Memory limit of the process beyond the needs of Node itself. */
  readonly memoryBytes: number
}

export type Attacked = {
  readonly report: IsolationReport
  readonly usesPermissionModel: boolean
  readonly surroundings: Surroundings
  /** 'ended' means that the process did not survive the attack. */
  readonly outcomes: Partial<AttackOutcomes>
  /** Why the process ended by itself, if it did. */
  readonly end: string | undefined
}

const { mode, toolFolders, isNative, attacks, memoryBytes } = JSON.parse(process.argv[2]!) as AttackedOptions

await using opened = new AsyncDisposableStack()
const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-attacked-'))
opened.defer(() => rm(dataDir, { recursive: true, force: true }))
// The file mode must not be what prevents access.
await chmod(dataDir, 0o777)
await mkdir(join(dataDir, 'tls'))
const secretFile = join(dataDir, 'secret.key')
await writeFile(secretFile, 'a secret', { mode: 0o644 })
process.env.NIGHTJAR_SECRET = 'a secret'

const listen = async (options: ListenOptions) => {
  const server = createServer((socket) => socket.on('error', () => {}).resume()).listen(options)
  await once(server, 'listening')
  opened.defer(() => void server.close())
  return server.address()
}
const udp = createSocket('udp4').bind(0, '127.0.0.1')
await once(udp, 'listening')
opened.defer(() => void udp.close())
const socketFile = join(dataDir, 'server.sock')
const temporaryFile = `/tmp/nightjar-attack-${process.pid}`
opened.defer(() => rm(temporaryFile, { force: true }))
const socketName = `nightjar-attacked-${process.pid}`
const tcp = (await listen({ port: 0, host: '127.0.0.1' })) as { port: number }
await listen({ path: socketFile })
await chmod(socketFile, 0o777)
await listen({ path: `\0${socketName}` })

const targets: AttackTargets = {
  secretFile,
  serverPid: process.pid,
  tcpPort: tcp.port,
  udpPort: udp.address().port,
  socketFile,
  temporaryFile,
  socketName,
  memoryBytes: 2 * memoryBytes + 1024 * 1024 * 1024,
}
const isolation = await openIsolation({ mode, ...(toolFolders && { toolFolders }) })
const { usesPermissionModel } = isolation
console.log(JSON.stringify({ report: isolation.report, usesPermissionModel, ...(await attack(isolation)) }))

async function attack(isolation: Isolation): Promise<Omit<Attacked, 'report' | 'usesPermissionModel'>> {
  const outcomes: { [name: string]: string } = {}
  let surroundings: Surroundings | undefined
  const over = Promise.withResolvers<string | undefined>()
  const child = new MessageChild({
    program: new URL('../../../server/decoder/isolation/test-attacks.ts', import.meta.url),
    args: [JSON.stringify(targets), attacks.join(',')],
    isolation: isNative ? { ...isolation, usesPermissionModel: false } : isolation,
    memoryBytes,
    onMessage: (message) => {
      const report = JSON.parse(Buffer.from(message).toString())
      if (report.surroundings) surroundings = report.surroundings
      else if (report.name === 'end') over.resolve(undefined)
      else outcomes[report.name] = report.outcome
    },
    onExit: over.resolve,
  })
  const end = await over.promise
  await child.stop()
  for (const name of attacks) outcomes[name] ??= 'ended'
  return { surroundings: surroundings!, outcomes: outcomes as Partial<AttackOutcomes>, end }
}
