// nightjar camera record-session and camera replay: a camera that does not work, as a file that somebody else can
// connect to. Both run on this machine without a server or data.

import { readFile, unlink, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { writeDetection } from '../api/answers/detection.ts'
import { AppError } from '../base/error.ts'
import { writeByteSize } from '../model/byte-size.ts'
import { readVersion } from '../version.ts'
import { type Command, UsageError } from './command.ts'
import { serverOptions } from './help.ts'
import { openProbeContext } from './open-probe-context.ts'
import { describeDetection } from './probe-command.ts'
import { cameraPasswordOption, readCameraUrl } from './secret-input.ts'
import { askYes } from './terminal.ts'

const defaultSeconds = 10
const maxSeconds = 60
const maxBytes = 64_000_000
/** To connect, twice if the first transport stays silent. */
const connectMs = 15_000
const defaultPort = 8554

const recordCommand: Command = {
  name: 'camera record-session',
  summary: 'Record what a camera sends, without credentials, to report a camera that does not work.',
  positionals: ['URL'],
  options: {
    to: { placeholder: 'FILE', description: 'The file to write. It must not exist yet.', isRequired: true },
    seconds: {
      placeholder: 'N',
      description: `How long to record, from the first frame on, at most ${maxSeconds}. Default: ${defaultSeconds}.`,
    },
    yes: { description: 'Record without asking.' },
    ...cameraPasswordOption,
    'allow-loopback-cameras': serverOptions['allow-loopback-cameras']!,
  },
  async run(call) {
    const { config, options, positionals, switches, terminal } = call
    const seconds = parseNumber('seconds', options.seconds, { usual: defaultSeconds, min: 1, max: maxSeconds })
    const source = await readCameraUrl(call, recordCommand, positionals[0]!)
    const file = options.to!
    if (!switches.has('yes')) {
      if (!terminal.stdin.isTTY) {
        throw new UsageError('specify --yes to record the images and audio of the camera', recordCommand)
      }
      const content = `${file} will contain what this machine and the camera at ${new URL(source.url).host} say to each other, and ${seconds} seconds of its images and audio. The user name and the password are left out. The address of the camera is not, and its serial number may be in it.`
      if (!(await askYes(terminal, `${content}\nRecord?`))) return { text: 'Nothing was recorded.', isFailure: true }
    }
    const { SessionRecorder, writeSession } = await import('../ingest/recorded/session-file.ts')
    const { detectStream } = await import('../ingest/detection/detect-stream.ts')
    const { SharedReads } = await import('../ingest/network/shared-reads.ts')
    const { ConnectLimiter } = await import('../ingest/network/connect-limiter.ts')
    const look = await openProbeContext(config)
    // A file that cannot be written is noticed before the camera is recorded.
    await writeNew(file, '')
    const recordedAt = new Date(look.clock.nowMs()).toISOString()
    const recorder = new SessionRecorder(() => look.clock.monotonicMs(), maxBytes)
    const ms = seconds * 1000
    const interrupted = new AbortController()
    const interrupt = () => interrupted.abort()
    process.once('SIGINT', interrupt)
    const detecting = detectStream({
      context: {
        ...look,
        connectLimiter: new ConnectLimiter(1),
        reads: new SharedReads(),
        tap: (event) => recorder.take(event),
      },
      target: {
        url: source.url,
        username: source.username ?? undefined,
        password: source.password ?? undefined,
        depth: 'stream',
        canSeeProblems: true,
      },
      signal: AbortSignal.any([look.signal, interrupted.signal]),
      limits: { totalMs: connectMs + ms, measureMs: ms, enoughMs: ms },
    })
    const stream = await detecting.catch(async (error: unknown) => {
      // What has been recorded by then may be what is wanted.
      if (interrupted.signal.aborted) return undefined
      await unlink(file)
      throw error
    })
    process.off('SIGINT', interrupt)
    const text = writeSession({ ...recorder.finish(source), recordedAt, version: readVersion() })
    await writeFile(file, text)
    if (!stream) return { text: `Interrupted. Recorded until then: ${file} (${writeByteSize(text.length)})` }
    const { snapshot: _, ...found } = writeDetection(source.url, { stream, snapshot: undefined })
    const cut = recorder.isFull ? `, cut off after ${writeByteSize(maxBytes)} of the session` : ''
    return {
      json: { ...found, file, file_bytes: text.length, is_complete: !recorder.isFull },
      text: `${describeDetection(found)}\nRecorded:   ${file} (${writeByteSize(text.length)}${cut})`,
    }
  },
}

const replayCommand: Command = {
  name: 'camera replay',
  summary: 'Serve a recorded session as a camera, until it is interrupted.',
  positionals: ['FILE'],
  options: {
    port: { placeholder: 'PORT', description: `TCP port, 0 for any that is free. Default: ${defaultPort}.` },
  },
  async run({ options, positionals, switches, terminal }) {
    const port = parseNumber('port', options.port, { usual: defaultPort, min: 0, max: 65_535 })
    const { parseSession } = await import('../ingest/recorded/session-file.ts')
    const { openReplayedCamera } = await import('../ingest/recorded/replayed-camera.ts')
    const session = parseSession(await readFile(positionals[0]!, 'utf8'))
    const interrupted = Promise.race(
      ['SIGINT', 'SIGTERM'].map((name) => new Promise<void>((resolve) => process.once(name, () => resolve()))),
    )
    await using camera = await openReplayedCamera(session, { port })
    terminal.stdout.write(
      switches.has('json')
        ? `${JSON.stringify({ url: camera.url, recorded_at: session.recordedAt, nightjar: session.version })}\n`
        : `The camera of ${session.recordedAt} is at ${camera.url} (any user name and password). Ctrl-C ends it.\n`,
    )
    await interrupted
    return { text: '' }
  },
}

export const cameraSessionCommands: readonly Command[] = [recordCommand, replayCommand]

function parseNumber(
  name: string,
  text: string | undefined,
  { usual, min, max }: { readonly usual: number; readonly min: number; readonly max: number },
): number {
  if (text === undefined) return usual
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= min && number <= max) return number
  throw new AppError('invalid', `--${name}: expected a number from ${min} to ${max}, got "${text}"`)
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new AppError('conflict', `${file} exists already: choose another name.`)
  }
}
