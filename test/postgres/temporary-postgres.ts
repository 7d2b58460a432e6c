// A real PostgreSQL server for tests, from Debian's package: in a temporary folder, on a free loopback port, without
// fsync. It requires a password, so that passwords are tested too.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { appendFile, chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { openDatabase } from '../../server/store/engine/open-database.ts'
import { findOwnPort } from '../support/own-port.ts'

const run = promisify(execFile)

/** Returns the folder of the newest installed version's programs, or undefined. */
export function findPostgres(): string | undefined {
  const version = (path: string) => Number(path.split('/')[4])
  return globSync('/usr/lib/postgresql/*/bin')
    .sort((a, b) => version(a) - version(b))
    .at(-1)
}

export class TemporaryPostgres {
  readonly password: string
  readonly host: string
  readonly port: number
  readonly #bin: string
  readonly #folder: string
  readonly #user: readonly string[]
  readonly #paused: number[] = []
  #server: ChildProcess | undefined

  private constructor(
    bin: string,
    folder: string,
    user: readonly string[],
    host: string,
    port: number,
    password = randomBytes(8).toString('hex'),
  ) {
    this.host = host
    this.password = password
    this.#bin = bin
    this.#folder = folder
    this.#user = user
    this.port = port
  }

  /** `bin` is the result of `findPostgres`; `host` is an address of this machine. */
  static async open(bin: string, host = '127.0.0.1'): Promise<TemporaryPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'nightjar-postgres-'))
    const user = await findUser()
    if (user) await chown(folder, user.uid, user.gid)
    const change = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : []
    const postgres = new TemporaryPostgres(bin, folder, change, host, await findOwnPort(host))
    try {
      await postgres.#initialize()
      await postgres.start()
    } catch (error) {
      await postgres.close()
      throw error
    }
    return postgres
  }

  /** A server that replicates this one. `close` it before this one. */
  async openReplica(givenPort?: number): Promise<TemporaryPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'nightjar-replica-'))
    const user = await findUser()
    if (user) await chown(folder, user.uid, user.gid)
    const port = givenPort ?? (await findOwnPort(this.host))
    const replica = new TemporaryPostgres(this.#bin, folder, this.#user, this.host, port, this.password)
    const from = ['-h', this.host, '-p', String(this.port), '-U', 'tester', '-D', replica.#dataDir]
    const env = { ...process.env, PGPASSWORD: this.password }
    await run(
      'setpriv',
      [...this.#user, join(this.#bin, 'pg_basebackup'), ...from, '-R', '--checkpoint=fast', '--no-sync'],
      {
        cwd: folder,
        env,
      },
    )
    await replica.start()
    return replica
  }

  url(database: string): string {
    return `postgres://tester:${this.password}@${this.host}:${this.port}/${database}`
  }

  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string> {
    return createDatabase(this.url('postgres'))
  }

  /** Whether this replica has everything that the primary has written so far. */
  async follows(primary: TemporaryPostgres): Promise<boolean> {
    const [sent] = await primary.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
    const [row] = await this.query<{ is_there: boolean }>(
      `select pg_last_wal_replay_lsn() >= '${sent!.lsn}' as is_there`,
    )
    return row?.is_there === true
  }

  /** Runs a query as the server's owner, in the database `postgres` unless `url` names another. */
  query<Row extends pg.QueryResultRow>(text: string, url = this.url('postgres')): Promise<Row[]> {
    return queryPostgres(text, url)
  }

  /** Starts again on the same port and data. Resolves once the server responds. */
  async start(): Promise<void> {
    const settings = {
      port: this.port,
      listen_addresses: this.host,
      unix_socket_directories: '',
      fsync: 'off',
      // In its folder, which is deleted: one that is killed leaves its shared memory.
      dynamic_shared_memory_type: 'mmap',
      max_connections: 300,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    // If this process is killed, the kernel ends the server.
    const command = [...this.#user, '--pdeathsig=INT', join(this.#bin, 'postgres'), '-D', this.#dataDir, ...args]
    const server = spawn('setpriv', command, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.#folder })
    this.#server = server
    let log = ''
    server.stderr.on('data', (bytes) => {
      log = `${log}${bytes}`.slice(-10_000)
    })
    for (let waitedMs = 0; waitedMs < 20_000; waitedMs += 20) {
      if (server.exitCode !== null) break
      if (await this.query('select 1').catch(() => undefined)) return
      await delay(20)
    }
    throw new Error(`PostgreSQL did not start:\n${log}`)
  }

  /** `immediate` stops as after a power failure. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server || server.exitCode !== null) return
    const exit = once(server, 'exit')
    server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    for (const pid of this.#paused.splice(0)) process.kill(pid, 'SIGCONT')
    await exit
  }

  /** Takes connections and says nothing, until it is stopped. */
  async pause(): Promise<void> {
    const { pid = 0 } = this.#server ?? {}
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    this.#paused.push(pid, ...children.trim().split(' ').map(Number))
    for (const each of this.#paused) process.kill(each, 'SIGSTOP')
  }

  async close(): Promise<void> {
    await this.stop('immediate')
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #dataDir(): string {
    return join(this.#folder, 'data')
  }

  async #initialize(): Promise<void> {
    const passwordFile = join(this.#folder, 'password')
    await writeFile(passwordFile, this.password)
    await chmod(passwordFile, 0o644)
    const form = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--no-sync', '--no-instructions']
    const owner = ['--username=tester', `--pwfile=${passwordFile}`]
    await run('setpriv', [...this.#user, join(this.#bin, 'initdb'), '-D', this.#dataDir, ...form, ...owner], {
      cwd: this.#folder,
    })
    await appendFile(join(this.#dataDir, 'pg_hba.conf'), 'host all,replication all samenet scram-sha-256\n')
  }
}

/** Creates a database on the server of `adminUrl` and returns its URL. It is empty, or a copy of `template`. */
export async function createDatabase(adminUrl: string, template?: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const source = template === undefined ? '' : ` template ${new URL(template).pathname.slice(1)}`
  await queryPostgres(`create database ${name}${source}`, adminUrl)
  return Object.assign(new URL(adminUrl), { pathname: name }).href
}

/** Creates a database with the tables of the store, to be copied. */
export async function createTemplate(adminUrl: string): Promise<string> {
  const url = await createDatabase(adminUrl)
  const { db } = await openDatabase(url)
  await db.destroy()
  return url
}

/** Also closes the connections to it. */
export async function dropDatabase(adminUrl: string, url: string): Promise<void> {
  await queryPostgres(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`, adminUrl)
}

async function queryPostgres<Row extends pg.QueryResultRow>(text: string, url: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** The user that the server runs as, because it refuses to run as root. Undefined: the user who runs the tests. */
async function findUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const { stdout } = await run('getent', ['passwd', 'postgres', 'nobody']).catch((error) => error as { stdout: string })
  const [, , uid, gid] = stdout.split('\n')[0]!.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
