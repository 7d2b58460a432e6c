// The real server as a test runs it: its own process, its own data folder, port 0, administered by the command line.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAnswerCheck } from './support/api/check-answer.ts'
import { runCommand } from './support/command-line.ts'

const entry = new URL('../server/commands/nightjar.ts', import.meta.url).pathname

export type Answer<T = unknown> = {
  readonly status: number
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly text: string
  readonly bytes: Buffer
  readonly json: T
}

export type ServerUnderTest = AsyncDisposable & {
  readonly url: string
  /** The certificate to trust, PEM; and its file, for programs that take one. */
  readonly ca: string
  readonly caFile: string
  readonly dataDir: string
  /** For the first account, while there is none. */
  readonly setupCode: string | undefined
  /** Of the owner made by `openServer`; for cameras and for accounts. */
  readonly token: string
  readonly pid: number
  /** What the server logged so far. */
  log(): string
  /** Runs a command on the data folder, in this process, and returns the JSON it prints. Rejects if it fails. */
  command<T>(...args: string[]): Promise<T>
  /**
   * A request with the owner's token, unless `authorization` says otherwise (null: none). Rejects when the answer is not as the
   * description of the interface says.
   */
  request<T = unknown>(path: string, options?: RequestOptions): Promise<Answer<T>>
  /** SIGTERM, and wait; the exit code. */
  stop(): Promise<number | null>
  /** kill -9, and wait. */
  kill(): Promise<void>
  /** Starts it again on the same data folder and port. */
  start(): Promise<void>
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
export async function openServer(...extraArgs: string[]): Promise<ServerUnderTest> {
  return launch(extraArgs, true)
}

/** The same, with variables of the environment that only `serve` gets. */
export async function openServerWith(
  environment: Readonly<Record<string, string>>,
  ...extraArgs: string[]
): Promise<ServerUnderTest> {
  return launch(extraArgs, true, environment)
}

/** Before anybody has an account; `setupCode` is for the first. */
export async function openEmptyServer(...extraArgs: string[]): Promise<ServerUnderTest> {
  return launch(extraArgs, false)
}

async function launch(
  extraArgs: readonly string[],
  hasOwner: boolean,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerUnderTest> {
  const dataDir = await mkdtemp(join(tmpdir(), 'nightjar-test-'))
  const logLines: string[] = []
  let child: ChildProcess | undefined
  let url = ''
  let caFile = ''
  let ca = ''
  let port = '0'
  let setupCode: string | undefined

  const command = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await runCommand([...args, '--data', dataDir, '--json'], { env: process.env })
    if (code === 0) return JSON.parse(stdout) as T
    throw Object.assign(new Error(`nightjar ${args.join(' ')}: ${stderr}`), { code, stdout, stderr })
  }

  const start = async () => {
    const started = spawn(
      process.execPath,
      [
        entry,
        'serve',
        '--data',
        dataDir,
        '--host',
        '127.0.0.1',
        '--port',
        port,
        '--allow-loopback-cameras',
        '--json',
        ...extraArgs,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } },
    )
    child = started
    createInterface(started.stderr!).on('line', (line) => logLines.push(line))
    const [line] = await Promise.race([
      once(createInterface(started.stdout!), 'line'),
      once(started, 'exit').then(([code]) =>
        Promise.reject(new Error(`the server ended with code ${code}:\n${logLines.join('\n')}`)),
      ),
    ])
    const ready = JSON.parse(line) as { url: string; ca: string; setup_code?: string }
    url = ready.url
    setupCode = ready.setup_code
    caFile = ready.ca
    ca = await readFile(caFile, 'utf8')
    port = new URL(url).port
  }

  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    const exited = once(child, 'exit')
    child.kill(signal)
    const [code] = await exited
    return code as number | null
  }

  const addOwner = async () => {
    const person = ['--email', 'owner@example.com', '--first-name', 'Olive', '--last-name', 'Owner']
    await command('user', 'add', '--password', 'correct horse', ...person)
    const scope = ['--scope', 'user_access account_manage']
    return (await command<{ token: string }>('token', 'create', '--user', 'owner@example.com', ...scope)).token
  }
  const token = hasOwner ? await addOwner() : ''
  await start()

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
    get pid() {
      return child!.pid!
    },
    get setupCode() {
      return setupCode
    },
    dataDir,
    token,
    log: () => logLines.join('\n'),
    command,
    request: (path, options = {}) => request(new URL(path, url), ca, token, options),
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL')
    },
    start,
    async [Symbol.asyncDispose]() {
      await end('SIGTERM')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const checkAnswer = createAnswerCheck()

/** One HTTP/1.1 request; the answer whole in memory, and under /v1 as the description says. */
function request<T>(url: URL, ca: string, token: string, options: RequestOptions): Promise<Answer<T>> {
  const { method = 'GET', body, form, authorization = `PersonalAccessToken ${token}`, headers = {} } = options
  const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>()
  const json = body === undefined ? undefined : JSON.stringify(body)
  const payload = form ? new URLSearchParams(form).toString() : json
  const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
  const outgoing = httpsRequest(url, {
    method,
    ca,
    agent: false,
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
  return promise
}

/** Asks again each 100 ms until the answer is truthy; throws with `what` after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  timeoutMs: number,
  ask: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs
  while (true) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
