// nightjar serve

import { networkInterfaces } from 'node:os'
import process from 'node:process'
import { systemClock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import { pause } from '../base/pause.ts'
import { type Config, configFileName } from '../config.ts'
import { databaseFile } from '../store/engine/database-file.ts'
import type { Command } from './command.ts'
import { disablePretenuring } from './disable-pretenuring.ts'
import { serverOptions } from './help.ts'
import { watchParent } from './parent-watch.ts'
import { fitIntoMemory } from './small-machine.ts'

const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the server.',
  positionals: [],
  options: serverOptions,
  async run({ config, switches, terminal }) {
    fitIntoMemory(config.memoryMb)
    disablePretenuring()
    const stopping = Promise.withResolvers<void>()
    const hurry = new AbortController()
    // Several signals may come at once (both a terminal and a parent pass on Ctrl-C).
    const stop = () => {
      stopping.resolve()
      if (stoppedMs !== undefined && systemClock.monotonicMs() - stoppedMs > 500) hurry.abort()
      stoppedMs ??= systemClock.monotonicMs()
    }
    let stoppedMs: number | undefined
    for (const signal of signals) process.on(signal, stop)
    watchParent(() => {
      stopping.resolve()
      hurry.abort()
    })
    const { openApp } = await import('../app.ts')
    const server = await openApp({ config, clock: systemClock, log: createLogger(config.logLevel) })
    const { url, certFile: ca, setupCode: setup_code } = server
    const announcement = switches.has('json') ? JSON.stringify({ url, ca, setup_code }) : describeServer(server, config)
    terminal.stdout.write(`${announcement}\n`)
    const ousted = await Promise.race([stopping.promise, server.ousted])
    if (!ousted && config.drainSeconds > 0) {
      server.drain()
      void server.ousted.then(() => hurry.abort())
      await pause(systemClock, config.drainSeconds * 1000, hurry.signal)
    }
    try {
      await server.close()
    } catch (failure) {
      // Without the database, closing cannot write everything.
      if (!ousted) throw failure
    }
    // Reported once everything is written, because the other server then continues with it.
    if (ousted) throw ousted
    return { text: '' }
  },
}

type Served = {
  readonly url: string
  readonly fingerprint: string | undefined
  /** SHA-256 of the authority that devices can be made to trust; undefined if the certificate is another's. */
  readonly authority: string | undefined
  readonly setupCode: string | undefined
}

function describeServer({ url, fingerprint, authority, setupCode }: Served, config: Config): string {
  const { data, database } = config
  const lines = [`Nightjar is at ${url}`, ...describeOthers(url, config), `Data: ${data}`]
  if (authority !== undefined)
    lines.push(
      `Certificate of our own, SHA-256 ${fingerprint}`,
      `To end the warnings of browsers, install its authority from ${url}/certificate/, SHA-256 ${authority}`,
    )
  if (setupCode === undefined) return lines.join('\n')
  const isElsewhere = database !== databaseFile(data)
  // The URL may contain a password, so it is not repeated.
  const note = isElsewhere
    ? ['', 'Each needs the same `database` as the server: in nightjar.json, by --database or by NIGHTJAR_DATABASE.']
    : []
  return [...lines, ...writeFirstSteps(url, setupCode, data), ...note].join('\n')
}

/** How other machines reach a server without a configured URL. */
function describeOthers(url: string, { publicUrl, host }: Config): string[] {
  if (publicUrl !== undefined || !['0.0.0.0', '::'].includes(host)) return []
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const own = addresses.find(({ internal, family }) => !internal && family === 'IPv4')
  if (!own) return []
  const { port } = new URL(url)
  const other = `https://${own.address}${port && `:${port}`}`
  return [
    `For other machines, start it with --public-url ${other} or put that into ${configFileName}: "public-url": "${other}"`,
  ]
}

/**
 * Two ways to create the first account: in a browser with a one-time code that is only printed here, or in another
 * terminal.
 */
function writeFirstSteps(url: string, setupCode: string, data: string): string[] {
  const at = ` --data ${/^[\w./-]+$/.test(data) ? data : `'${data.replaceAll("'", "'\\''")}'`}`
  return [
    '',
    `Nobody can sign in yet. Become the owner at ${url}/set-up/ with this code, which works once:`,
    '',
    `  ${setupCode}`,
    '',
    'Or create an owner, a token and a first camera in another terminal:',
    '',
    `  ./nightjar user add --email you@example.com --first-name Your --last-name Name${at}`,
    `  ./nightjar token create --user you@example.com${at}`,
    `  ./nightjar camera add --user you@example.com --name Door --url rtsp://user@192.168.1.20/stream --record P7D${at}`,
  ]
}
