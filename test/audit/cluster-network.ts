// A network for the servers of an audit: each has a network namespace with a line to a switch, as has the program of the
// audit, where the database, the store, the balancer and the cameras are, each at an address of its own. A cut makes a server
// send what is meant for some of these addresses to nobody: no answer, no reset, no link that is down. All of it ends with the
// processes that hold the namespaces.

import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** What runs where the program of the audit does. */
export type Service = 'cameras' | 'database' | 'store' | 'balancer'

export type ServerLine = {
  readonly address: string
  /** Runs a command in the namespace of the server, as the process that it is called with. */
  readonly launcher: readonly string[]
  /** Until it is joined again, nothing that the server sends to these addresses arrives. */
  cut(addresses: readonly string[]): void
  join(): void
}

export type ClusterNetwork = Disposable & {
  readonly hosts: Readonly<Record<Service, string>>
  readonly servers: readonly ServerLine[]
}

const services: readonly Service[] = ['cameras', 'database', 'store', 'balancer']
/** A hardware address that nobody has. */
const nobody = '02:00:00:00:00:01'
const networkOf = (pid: number) => `10.214.${pid % 250}`

const inside = 'NIGHTJAR_AUDIT_NETWORK'

/**
 * Runs the program once more, in a network namespace of its own, and ends with it: browsers give up what they load when the
 * machine gets an address. True where the program has one; false where none can be made: for whoever is not root, and in
 * some containers.
 */
export async function inOwnNetwork(): Promise<boolean> {
  if (process.env[inside]) return true
  const own = 'setpriv --pdeathsig=TERM unshare --net'.split(' ')
  const script = 'ip link set lo up && exec "$@"'
  const start = (program: readonly string[], options: SpawnOptions) =>
    spawn(own[0]!, [...own.slice(1), 'sh', '-c', script, 'sh', ...program], options)
  const [made] = await once(start(['true'], { stdio: 'ignore' }), 'exit').catch(() => [1])
  if (made !== 0) return false
  const env = { ...process.env, [inside]: 'own' }
  const again = start([process.execPath, ...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => again.kill(signal))
  const [code] = await once(again, 'exit')
  process.exit(code ?? 1)
}

/** Undefined where the program has no network namespace of its own. */
export async function openClusterNetwork(count: number): Promise<ClusterNetwork | undefined> {
  if (!process.env[inside]) return undefined
  using opened = new DisposableStack()
  const network = networkOf(process.pid)
  const line = `nj${process.pid}`
  const hosts = Object.fromEntries(services.map((service, i) => [service, `${network}.${i + 1}`]))
  const addressOf = (i: number) => `${network}.${11 + i}`
  try {
    const hub = opened.use(await holdNamespace())
    run(`ip link add ${line} type veth peer name host netns ${hub.pid}`)
    // Gone with the namespace, but not at once.
    opened.defer(() => run(`ip link del ${line}`))
    run(`ip link set ${line} up`)
    for (const address of Object.values(hosts)) run(`ip addr add ${address}/24 dev ${line}`)
    hub.run('ip link add switch type bridge')
    hub.run('ip link set switch up')
    hub.run('ip link set host master switch up')
    const servers = []
    for (let i = 0; i < count; i++) {
      const own = opened.use(await holdNamespace())
      hub.run(`ip link add port${i} type veth peer name eth0 netns ${own.pid}`)
      hub.run(`ip link set port${i} master switch up`)
      own.run('ip link set lo up')
      own.run('ip link set eth0 up')
      own.run(`ip addr add ${addressOf(i)}/24 dev eth0`)
      let cut: readonly string[] = []
      servers.push({
        address: addressOf(i),
        launcher: own.launcher,
        cut(addresses: readonly string[]) {
          cut = addresses
          for (const each of cut) own.run(`ip neigh replace ${each} lladdr ${nobody} nud permanent dev eth0`)
        },
        join() {
          for (const each of cut) own.run(`ip neigh del ${each} dev eth0`)
          cut = []
        },
      })
    }
    const held = opened.move()
    return { hosts: hosts as Record<Service, string>, servers, [Symbol.dispose]: () => held.dispose() }
  } catch {
    return undefined
  }
}

type Namespace = Disposable & { readonly pid: number; readonly launcher: readonly string[]; run(command: string): void }

/** A network namespace that lasts as long as the process that it is held by, which ends with this one. */
async function holdNamespace(): Promise<Namespace> {
  const holder: ChildProcess = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', '--net', 'sleep', 'infinity'])
  const pid = holder.pid ?? 0
  const own = readlinkSync('/proc/self/ns/net')
  const isApart = () => existsSync(`/proc/${pid}/ns/net`) && readlinkSync(`/proc/${pid}/ns/net`) !== own
  for (let i = 0; i < 100 && holder.exitCode === null && !isApart(); i++) await sleep(20)
  if (!isApart()) throw new Error('no network namespace')
  const launcher = ['nsenter', `--target=${pid}`, '--net']
  return {
    ...{ pid, launcher },
    run: (command) => run([...launcher, command].join(' ')),
    [Symbol.dispose]: () => holder.kill('SIGKILL'),
  }
}

function run(command: string): void {
  const [program, ...args] = command.split(' ')
  execFileSync(program!, args, { stdio: 'ignore' })
}
