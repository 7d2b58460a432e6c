// Firefox, driven through its built-in Marionette protocol (length-prefixed JSON over TCP).

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../server-under-test.ts'

export const elementKey = 'element-6066-11e4-a52e-4f735466cecf'

const settings = {
  'marionette.port': 0,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'toolkit.telemetry.enabled': false,
}

export type Firefox = AsyncDisposable & {
  open(url: string): Promise<void>
  url(): Promise<string>
  /** Text of the first matching element. */
  text(selector: string): Promise<string>
  type(selector: string, text: string): Promise<void>
  click(selector: string): Promise<void>
  deleteCookies(): Promise<void>
  /** The value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T>
}

/** `signalDecoders` signals the processes that decode video and audio, and tells whether there were any. */
export type FirefoxProcess = Firefox & { signalDecoders(signal: 'SIGSTOP' | 'SIGCONT'): boolean }

export function hasFirefox(): boolean {
  return spawnSync('firefox-esr', ['--version'], { stdio: 'ignore' }).status === 0
}

/** The pages of sign-in work without JavaScript, and the dashboard does not. */
export async function launchFirefox({ hasJavaScript = false } = {}): Promise<FirefoxProcess> {
  const profile = await mkdtemp(join(tmpdir(), 'nightjar-firefox-'))
  const lines = Object.entries({ ...settings, 'javascript.enabled': hasJavaScript }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  )
  await writeFile(join(profile, 'user.js'), lines.join('\n'))
  const child = spawn('firefox-esr', ['--headless', '--marionette', '--no-remote', '--profile', profile], {
    stdio: 'ignore',
    env: { ...process.env, HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: '1', MOZ_CRASHREPORTER_DISABLE: '1' },
  })
  try {
    const port = await eventually('Firefox', 60_000, async () => {
      const text = await readFile(join(profile, 'MarionetteActivePort'), 'utf8').catch(() => '')
      return Number(text) || undefined
    })
    return await control(child, profile, port)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

async function control(child: ChildProcess, profile: string, port: number): Promise<FirefoxProcess> {
  const socket = connect(port, '127.0.0.1')
  const marionette = new Marionette(socket)
  await marionette.hello
  const capabilities = { acceptInsecureCerts: true, pageLoadStrategy: 'normal' }
  await marionette.send('WebDriver:NewSession', capabilities)
  await marionette.send('WebDriver:SetTimeouts', { implicit: 5000, pageLoad: 20_000 })
  const find = async (selector: string): Promise<string> => {
    const { value } = await marionette.send('WebDriver:FindElement', { using: 'css selector', value: selector })
    return (value as Record<string, string>)[elementKey]!
  }
  const signalDecoders = (signal: NodeJS.Signals) => {
    // A child of Firefox forks the others.
    const children = String(spawnSync('pgrep', ['-P', String(child.pid)]).stdout)
      .split(/\s+/)
      .filter(Boolean)
    const parents = [child.pid, ...children].join()
    return spawnSync('pkill', ['--signal', signal, '-P', parents, '-f', 'contentproc .*(rdd|utility)$']).status === 0
  }
  return {
    open: async (url) => void (await marionette.send('WebDriver:Navigate', { url })),
    url: async () => String((await marionette.send('WebDriver:GetCurrentURL', {})).value),
    text: async (selector) =>
      String((await marionette.send('WebDriver:GetElementText', { id: await find(selector) })).value),
    type: async (selector, text) =>
      void (await marionette.send('WebDriver:ElementSendKeys', { id: await find(selector), text })),
    click: async (selector) => void (await marionette.send('WebDriver:ElementClick', { id: await find(selector) })),
    deleteCookies: async () => void (await marionette.send('WebDriver:DeleteAllCookies', {})),
    evaluate: async <T>(expression: string) => {
      const script = { script: `return (${expression})`, args: [] }
      return (await marionette.send('WebDriver:ExecuteScript', script)).value as T
    },
    signalDecoders,
    async [Symbol.asyncDispose]() {
      socket.destroy()
      // A decoder that stands still would outlive the browser.
      signalDecoders('SIGCONT')
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

type Reply = { readonly value?: unknown }
type MarionetteError = { readonly error: string; readonly message: string }

class Marionette {
  readonly #socket: Socket
  readonly #waiting = new Map<number, PromiseWithResolvers<Reply>>()
  readonly hello: Promise<void>
  #lastId = 0
  #bytes = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    const greeted = Promise.withResolvers<void>()
    this.hello = greeted.promise
    socket.on('error', (error) => {
      greeted.reject(error)
      for (const { reject } of this.#waiting.values()) reject(error)
    })
    socket.on('data', (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes])
      for (let message = this.#take(); message !== undefined; message = this.#take()) {
        if (Array.isArray(message)) this.#answer(message as [number, number, MarionetteError | null, Reply])
        else greeted.resolve()
      }
    })
  }

  send(command: string, parameters: object): Promise<Reply> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<Reply>()
    this.#waiting.set(id, waiting)
    const text = JSON.stringify([0, id, command, parameters])
    this.#socket.write(`${Buffer.byteLength(text)}:${text}`)
    return waiting.promise
  }

  #take(): unknown {
    const colon = this.#bytes.indexOf(':')
    if (colon < 0) return undefined
    const end = colon + 1 + Number(this.#bytes.subarray(0, colon))
    if (this.#bytes.length < end) return undefined
    const message = JSON.parse(this.#bytes.subarray(colon + 1, end).toString())
    this.#bytes = this.#bytes.subarray(end)
    return message
  }

  #answer([, id, error, result]: [number, number, MarionetteError | null, Reply]): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) waiting?.reject(new Error(`Firefox: ${error.error} ${error.message}`))
    else waiting?.resolve(result)
  }
}
