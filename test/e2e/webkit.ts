// WebKit (GTK), the engine of Safari as far as it runs here, driven through W3C WebDriver on a screen that nobody sees.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { eventually } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { elementKey, type Firefox } from './firefox.ts'

const binary = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'

export function hasWebKit(): boolean {
  return existsSync(binary) && ['WebKitWebDriver', 'Xvfb'].every((name) => spawnSync('which', [name]).status === 0)
}

/** Has the interface of the other browser, whose pages the same tests read. */
export async function launchWebKit(): Promise<Firefox> {
  await using opened = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'nightjar-webkit-'))
  opened.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  // Writes the number of the screen that it has chosen to descriptor 3.
  const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  opened.defer(() => end(screen))
  const [number] = await once(screen.stdio[3] as Readable, 'data', { signal: AbortSignal.timeout(20_000) })
  const port = await findOwnPort()
  const driver = spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, DISPLAY: `:${String(number).trim()}` },
  })
  opened.defer(() => end(driver))
  const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const { value } = (await response.json()) as { value: T & { error?: string; message?: string } }
    if (!response.ok) throw new Error(`WebKit: ${value.error} ${value.message}`)
    return value
  }
  await eventually('the WebDriver of WebKit', 20_000, () => send('GET', '/status').catch(() => undefined))
  const { sessionId } = await send<{ sessionId: string }>('POST', '/session', {
    capabilities: {
      alwaysMatch: {
        acceptInsecureCerts: true,
        timeouts: { implicit: 5000, pageLoad: 20_000, script: 20_000 },
        'webkitgtk:browserOptions': { binary, args: ['--automation', '--autoplay-policy=allow'] },
      },
    },
  })
  opened.defer(async () => void (await send('DELETE', `/session/${sessionId}`).catch(() => undefined)))
  const held = opened.move()
  const call = <T>(method: string, path: string, body?: object) => send<T>(method, `/session/${sessionId}${path}`, body)
  const find = async (selector: string) => {
    const found = await call<Record<string, string>>('POST', '/element', { using: 'css selector', value: selector })
    return found[elementKey]!
  }
  return {
    open: (url) => call('POST', '/url', { url }),
    url: () => call('GET', '/url'),
    text: async (selector) => call('GET', `/element/${await find(selector)}/text`),
    type: async (selector, text) => call('POST', `/element/${await find(selector)}/value`, { text }),
    click: async (selector) => call('POST', `/element/${await find(selector)}/click`, {}),
    deleteCookies: () => call('DELETE', '/cookie'),
    evaluate: (expression) => call('POST', '/execute/sync', { script: `return (${expression})`, args: [] }),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
