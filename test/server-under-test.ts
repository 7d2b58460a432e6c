// The real server as a test runs it: its own data folder, its own port, administered by the command line. It runs as a process,
// as users run it, or in the process of the test, which takes half the time.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import type { RunningServer } from '../server/app.ts'
import { systemClock } from '../server/base/clock.ts'
import { parseWords } from '../server/commands/command-line.ts'
import { serveCommand } from '../server/commands/serve-command.ts'
import { loadConfig } from '../server/config.ts'
import { databaseFile } from '../server/store/engine/database-file.ts'
import { balance, type Running } from './balanced-servers.ts'
import { createAnswerCheck } from './support/api/check-answer.ts'
import { runCommand } from './support/command-line.ts'
import { findOwnPort } from './support/own-port.ts'

/** A shell that leaves a file open, which no process that decodes may have. */
const shell = ['-c', 'exec 77<"$0"; exec "$@"', import.meta.filename]

/** Of the owner, whose password is `correct horse`. */
export const ownerEmail = 'owner@example.com'

const entry = fileURLToPath(new URL('../server/commands/nightjar.ts', import.meta.url))

export type Answer<T = unknown> = {
  readonly status: number
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly text: string
  readonly bytes: Buffer
  readonly json: T
}

export type ServerUnderTest = AsyncDisposable & {
  readonly url: string
  /** The certificate to trust, PEM; and its file, for programs that take one. Empty behind a proxy. */
  readonly ca: string
  readonly caFile: string
  readonly dataDir: string
  /** As for `openStore`. */
  readonly database: string
  /** For the first account, while there is none. */
  readonly setupCode: string | undefined
  /** Of the owner made by `openServer`; for cameras and for accounts. */
  readonly token: string
  /** What the server logged so far; in the process of the test, without the errors of its threads. */
  log(): string
  /** Runs a command on the data folder, in this process, and returns the JSON it prints. Rejects if it fails. */
  command<T>(...args: string[]): Promise<T>
  /** Adds a camera of the owner and returns its id. `options`: more of the command, for example `--record P1D`. */
  addCamera(name: string, url: string, ...options: string[]): Promise<number>
  /**
   * A request with the owner's token, unless `authorization` says otherwise (null: none). Rejects when the answer is not as the
   * description of the interface says.
   */
  request<T = unknown>(path: string, options?: RequestOptions): Promise<Answer<T>>
  /** SIGTERM, and wait; the exit code. */
  stop(): Promise<number | null>
  /** Starts it again on the same data folder and port. */
  start(): Promise<void>
}

export type ServerProcess = ServerUnderTest & {
  readonly pid: number
  /** kill -9, and wait. */
  kill(): Promise<void>
}

export type RequestOptions = {
  readonly method?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as a form instead. */
  readonly form?: Readonly<Record<string, string>>
  readonly authorization?: string | null
  readonly headers?: Record<string, string>
}

/** With an owner, whose token it has. */
export async function openServer(...extraArgs: string[]): Promise<ServerProcess> {
  return openServerWith({}, ...extraArgs)
}

/** The same, with variables of the environment that only `serve` gets. */
export async function openServerWith(
  environment: Readonly<Record<string, string>>,
  ...extraArgs: string[]
): Promise<ServerProcess> {
  const running = createServerProcess(environment)
  return addProcess(await open(running, extraArgs, true), running)
}

function addProcess(server: ServerUnderTest, running: Running & { readonly pid: number }): ServerProcess {
  return Object.defineProperties(server, {
    pid: { get: () => running.pid },
    kill: { value: () => running.end('SIGKILL') },
  }) as ServerProcess
}

/**
 * The same in the process of the test, for tests about what the server answers: a start takes half the time. Not for
 * load, memory, files that other processes hold, or the end of processes.
 */
export async function openServerHere(...extraArgs: string[]): Promise<ServerUnderTest> {
  return open(balance(createServerHere), extraArgs, true)
}

/** Another server in the process of the test, of the database of the first one, which has the cameras. */
export async function openAnsweringServer(first: ServerUnderTest, ...extraArgs: string[]): Promise<ServerUnderTest> {
  return openBeside(createServerHere(), first, ['--no-cameras', ...extraArgs])
}

/** The same as a process. */
export async function openAnsweringProcess(first: ServerUnderTest, ...extraArgs: string[]): Promise<ServerProcess> {
  return openServerBeside(first, '--no-cameras', ...extraArgs)
}

/** Another server as a process, of the database of the first one, which shares the cameras. */
export function openServerBeside(first: ServerUnderTest, ...extraArgs: string[]): Promise<ServerProcess> {
  return openSharingServer([], first, ...extraArgs)
}

/**
 * One of several servers that share the cameras; `first` is undefined for the first of them. `launcher`: what runs it, for
 * instance in a network namespace; it must become the server.
 */
export async function openSharingServer(
  launcher: readonly string[],
  first: ServerUnderTest | undefined,
  ...extraArgs: string[]
): Promise<ServerProcess> {
  const running = createServerProcess({}, launcher)
  const opened = first ? openBeside(running, first, extraArgs) : open(running, extraArgs, true)
  return addProcess(await opened, running)
}

async function openBeside(
  running: Running,
  { dataDir, token, url: publicUrl }: ServerUnderTest,
  extraArgs: readonly string[],
): Promise<ServerUnderTest> {
  const port = String(await findOwnPort())
  const shared = ['--secret-key-file', join(dataDir, 'secret.key'), '--public-url', publicUrl]
  return open(running, [...shared, '--port', port, ...extraArgs], { token, url: `https://localhost:${port}` })
}

/** In the process of the test, before anybody has an account; `setupCode` is for the first. */
export async function openEmptyServer(...extraArgs: string[]): Promise<ServerUnderTest> {
  return open(balance(createServerHere), extraArgs, false)
}

/** `owner`: whether one is made, or that of a database which has one, and where the server is reached itself. */
async function open(
  running: Running,
  extraArgs: readonly string[],
  owner: boolean | { readonly token: string; readonly url: string },
): Promise<ServerUnderTest> {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-test-'))
  let url = ''
  let caFile = ''
  let ca = ''
  let port = String(await findOwnPort())
  let setupCode: string | undefined
  // A handshake costs both sides more than most requests.
  const agent = new Agent({ keepAlive: true })
  const env: NodeJS.ProcessEnv = { ...process.env, ...(await running.prepare?.()) }

  const command = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await runCommand([...args, '--data', dataDir, '--json'], { env })
    if (code === 0) return JSON.parse(stdout) as T
    throw Object.assign(new Error(`nightjar ${args.join(' ')}: ${stderr}`), { code, stdout, stderr })
  }

  const start = async () => {
    const place = ['--data', dataDir, '--host', '127.0.0.1', '--port', port]
    const ready = await running.start([...place, '--allow-loopback-cameras', ...extraArgs])
    url = typeof owner === 'object' ? owner.url : ready.url
    setupCode = ready.setup_code
    caFile = ready.ca ?? ''
    ca = caFile && (await readFile(caFile, 'utf8'))
    port = new URL(url).port
  }

  const addOwner = async () => {
    const person = ['--email', ownerEmail, '--first-name', 'Olive', '--last-name', 'Owner']
    await command('user', 'add', '--password', 'correct horse', ...person)
    const scope = ['--scope', 'user_access account_manage']
    return (await command<{ token: string }>('token', 'create', '--user', ownerEmail, ...scope)).token
  }
  const clear = () => rm(dataDir, { recursive: true, force: true })
  const token = typeof owner === 'object' ? owner.token : owner ? await addOwner() : ''
  await start().catch(async (error) => {
    await clear()
    throw error
  })

  return {
    get url() {
      return url
    },
    get ca() {
      return ca
    },
    get caFile() {
      return caFile
    },
    get setupCode() {
      return setupCode
    },
    dataDir,
    database: env.NIGHTJAR_DATABASE ?? databaseFile(dataDir),
    token,
    log: () => running.logLines.join('\n'),
    command,
    async addCamera(name, url, ...options) {
      const camera = ['--user', ownerEmail, '--name', name, '--url', url, ...options]
      return (await command<{ id: number }>('camera', 'add', ...camera)).id
    },
    request: (path, options = {}) => request(new URL(path, url), { ca, token, agent }, options),
    stop: () => running.end('SIGTERM'),
    start,
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await running.end('SIGTERM')
      await running.close?.()
      await clear()
    },
  }
}

function createServerProcess(
  environment: Readonly<Record<string, string>>,
  launcher: readonly string[] = [],
): Running & { readonly pid: number } {
  const logLines: string[] = []
  let child: ChildProcess | undefined
  return {
    logLines,
    get pid() {
      return child!.pid!
    },
    async start(args) {
      const [program, ...words] = [...launcher, 'bash', ...shell, process.execPath, entry, 'serve', '--json', ...args]
      const started = spawn(program!, words, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...environment },
      })
      child = started
      createInterface(started.stderr!).on('line', (line) => logLines.push(line))
      const [line] = await Promise.race([
        once(createInterface(started.stdout!), 'line'),
        once(started, 'exit').then(([code]) =>
          Promise.reject(new Error(`the server ended with code ${code}:\n${logLines.join('\n')}`)),
        ),
      ])
      return JSON.parse(line)
    },
    async end(signal) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
      const exited = once(child, 'exit')
      child.kill(signal)
      const [code] = await exited
      return code as number | null
    },
  }
}

function createServerHere(): Running {
  const logLines: string[] = []
  let server: RunningServer | undefined
  return {
    logLines,
    async start(args) {
      const { openApp } = await import('../server/app.ts')
      const { values: flags } = parseWords(serveCommand, args)
      const config = await loadConfig({ flags, env: process.env, cwd: tmpdir() })
      const { logLevel } = config
      const form = { level: logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }
      const log = pino(form, { write: (line) => void logLines.push(line.trimEnd()) })
      // Its threads write to standard error by themselves.
      const threads = logLevel === 'silent' ? logLevel : 'error'
      server = await openApp({ config: { ...config, logLevel: threads }, clock: systemClock, log })
      return { url: server.url, ca: server.certFile, setup_code: server.setupCode }
    },
    async end() {
      const ending = server
      server = undefined
      await ending?.close()
      return 0
    },
  }
}

const checkAnswer = createAnswerCheck()

type Access = { readonly ca: string; readonly token: string; readonly agent: Agent }

/**
 * One HTTP/1.1 request; the answer whole in memory, and under /v1 as the description says. Sent again if the server had closed
 * the connection while it was idle, as it does when it is started again.
 */
async function request<T>(url: URL, access: Access, options: RequestOptions): Promise<Answer<T>> {
  const { sent, answer } = send<T>(url, access, options)
  try {
    return await answer
  } catch (error) {
    if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    return await send<T>(url, { ...access, agent: new Agent() }, options).answer
  }
}

function send<T>(url: URL, { ca, token, agent }: Access, options: RequestOptions) {
  const { method = 'GET', body, form, authorization = `PersonalAccessToken ${token}`, headers = {} } = options
  const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>()
  const json = body === undefined ? undefined : JSON.stringify(body)
  const payload = form ? new URLSearchParams(form).toString() : json
  const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
  const outgoing = httpsRequest(url, {
    method,
    ca,
    agent,
    headers: {
      ...(authorization === null ? {} : { authorization }),
      // Node sends no length with a DELETE by itself.
      ...(payload === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
      ...headers,
    },
  })
  outgoing.on('error', reject)
  outgoing.on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const text = bytes.toString()
      const status = response.statusCode!
      try {
        checkAnswer({ method, url: url.href, status, headers: response.headers, body: text })
      } catch (error) {
        reject(error)
        return
      }
      resolve({
        status,
        headers: response.headers,
        text,
        bytes,
        get json() {
          return JSON.parse(text) as T
        },
      })
    })
  })
  outgoing.end(payload)
  return { sent: outgoing, answer: promise }
}

/** How much longer a slow or busy machine may take than a quiet one, and the least limit: it may stand still for seconds. */
const patience = 3
const leastMs = 20_000

/**
 * Asks again each 100 ms until the answer is truthy. Throws with `what` after several times the `timeoutMs` that a quiet
 * machine needs at most: the limit ends a test that hangs, and asserts no speed.
 */
export async function eventually<T>(
  what: string | (() => string),
  timeoutMs: number,
  ask: () => Promise<T | undefined | false>,
): Promise<T> {
  const limitMs = Math.max(leastMs, patience * timeoutMs)
  const deadlineMs = performance.now() + limitMs
  while (true) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > deadlineMs)
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
