// Downloads what cameras recorded yesterday, or in any range: one MP4 file for each camera, playable anywhere.
//
//   npm run sdk && npm install --prefix examples          once: the SDK, for the examples
//   export NIGHTJAR_URL=https://localhost:8443 NIGHTJAR_TOKEN=njp_…
//   export NODE_EXTRA_CA_CERTS=data/tls/cert.pem          while the server has a certificate of its own
//   node examples/footage/download.js --help
//
// Node 20 or later. Breaking it off costs nothing: the next run goes on where this one was.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient, NightjarError, personalToken } from 'nightjar-sdk'
import { downloadPart, exists, fetchRange } from './footage-file.js'
import { parsePlaylist } from './hls-playlist.js'
import { readRange, UsageError } from './range.js'

const help = `Usage: node download.js [OPTIONS]

Downloads yesterday's footage into one MP4 file for each camera. Files that are there already stay as they are.

  --camera ID      Only this camera; can be given several times. Without: all that have recordings, shared ones too.
  --date DAY       Another day than yesterday, 2026-11-20, in the time zone of this machine.
  --from TIME      Instead of a day: from then on, 2026-11-20T22:00 in the time zone of this machine, or with Z in UTC.
  --to TIME        With --from: until then. Default: now.
  --out FOLDER     Where the files go. Default: the current folder.
  --server URL     Address of the server. Default: NIGHTJAR_URL.
  --json           Prints one JSON object at the end, and nothing else.
  --help           Prints this.

The personal access token is read from NIGHTJAR_TOKEN. Exit codes: 0 every file is there, 1 something failed, 2 wrong usage.
`

const stateOf = (file) => `${file}.part.json`

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof UsageError ? `${error.message}\nTry --help.` : explain(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function main() {
  const options = readOptions()
  if (options.help) {
    process.stdout.write(help)
    return 0
  }
  const client = createClient({
    baseUrl: options.server,
    auth: personalToken(options.token),
    retry: { times: 5, maxWaitSeconds: 60 },
  })
  const cameras = await findCameras(client, options.cameraIds)
  await mkdir(options.out, { recursive: true })
  const results = []
  for (const camera of cameras) {
    const result = await download(camera, options).catch((error) => ({ status: 'failed', reason: explain(error) }))
    const { id, name } = camera
    results.push({ camera: { id, name }, ...result })
    if (!options.json) print(results.at(-1))
  }
  if (options.json) console.log(JSON.stringify({ from: options.start, to: options.end, results }))
  else if (cameras.length === 0) console.log('No camera has recordings.')
  return results.some(({ status }) => status === 'failed') ? 1 : 0
}

function readOptions() {
  let values
  try {
    ;({ values } = parseArgs({
      options: {
        camera: { type: 'string', multiple: true },
        date: { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        out: { type: 'string', default: '.' },
        server: { type: 'string', default: process.env.NIGHTJAR_URL },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }))
  } catch (error) {
    throw new UsageError(error.message)
  }
  const { camera, out, server, json } = values
  if (values.help) return { help: true }
  if (!server) throw new UsageError('Which server? Set NIGHTJAR_URL or give --server.')
  const token = process.env.NIGHTJAR_TOKEN
  if (!token) throw new UsageError('NIGHTJAR_TOKEN is not set: a personal access token of your account.')
  const cameraIds = camera?.map((id) => {
    if (!/^\d+$/.test(id)) throw new UsageError(`--camera: expected the number of a camera, got "${id}"`)
    return Number(id)
  })
  return { server, token, out, json, cameraIds, ...readRange(values, new Date()) }
}

/** Each with a function that makes a recorded stream of it, for own and shared cameras are asked for in different places. */
async function findCameras({ cameras, sharedCameras }, ids) {
  const found = []
  for (const place of [cameras, sharedCameras]) {
    for await (const { id, name, has_recording } of place.listAll()) {
      const isWanted = ids === undefined ? has_recording : ids.includes(id)
      if (isWanted) found.push({ id, name, createStream: (range) => place.createStream(id, range) })
    }
  }
  const missing = ids?.find((id) => !found.some((camera) => camera.id === id))
  if (missing !== undefined) throw new Error(`There is no camera ${missing}.`)
  return found
}

async function download(camera, { label, start, end, out, json }) {
  const name = camera.name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') || 'camera'
  const first = join(out, `${name}-${camera.id}-${label}.mp4`)
  if ((await exists(first)) && !(await exists(stateOf(first)))) return { status: 'present', files: [{ file: first }] }
  const opened = await openPlaylist(camera, { start, end }, first)
  if (!opened) return { status: 'no_footage', files: [] }
  const files = []
  for (const [index, found] of (await joinParts(opened.parts)).entries()) {
    // Another file only where the format changes, a new resolution for instance.
    const file = index === 0 ? first : first.replace(/\.mp4$/, `-${index + 1}.mp4`)
    const onProgress = (at, of) => showProgress(json, camera, at, of)
    if (!(await exists(file))) await downloadPart(found, file, { mayResume: opened.isKnown, onProgress })
    files.push({ file, seconds: Math.round(found.part.seconds) })
  }
  await rm(stateOf(first))
  return { status: 'downloaded', files }
}

/**
 * Of the stream of a run that was broken off, as long as the server has it and its footage begins where it did, so that the bytes come
 * in the same order; or of a new one. Undefined: nothing was recorded.
 */
async function openPlaylist(camera, range, file) {
  const kept = await readFile(stateOf(file), 'utf8').then(JSON.parse, () => undefined)
  const known = kept && (await readPlaylist(kept.url))
  if (known && known.begin === kept.begin) return { ...known, isKnown: true }
  try {
    const { url } = await camera.createStream(range)
    const playlist = await readPlaylist(url)
    if (!playlist) return undefined
    await writeFile(stateOf(file), JSON.stringify({ url, begin: playlist.begin }))
    return { ...playlist, isKnown: false }
  } catch (error) {
    if (error instanceof NightjarError && error.status === 404) return undefined
    throw error
  }
}

/** Undefined when the server does not have it any more. Waits while it still grows, which only that of today does. */
async function readPlaylist(url) {
  while (true) {
    const response = await fetch(url, { signal: AbortSignal.timeout(60_000) })
    if (response.status === 403 || response.status === 404) return undefined
    if (!response.ok) throw new Error(`expected a playlist, got status ${response.status}`)
    const { parts, isComplete } = parsePlaylist(await response.text(), url)
    const [first] = parts
    if (isComplete) return first && { parts, begin: `${first.ranges[0].url} ${first.ranges[0].offset}` }
    await pause(2000)
  }
}

/** Parts that are read by the same initialization section make one file. */
async function joinParts(parts) {
  const joined = []
  for (const part of parts) {
    const init = await fetchRange(part.map)
    const last = joined.at(-1)
    if (!last?.init.equals(init)) joined.push({ init, part: { ...part } })
    else {
      last.part.seconds += part.seconds
      last.part.ranges = [...last.part.ranges, ...part.ranges]
    }
  }
  return joined
}

function showProgress(json, { name }, at, of) {
  if (json || !process.stderr.isTTY) return
  const percent = Math.floor((100 * at) / of)
  process.stderr.write(`\r${name}: ${percent} % of ${Math.ceil(of / 1e6)} MB${at === of ? '\n' : ''}`)
}

function print({ camera, status, reason, files }) {
  if (status === 'failed') console.error(`${camera.name}: ${reason}`)
  else if (status === 'no_footage') console.log(`${camera.name}: nothing was recorded then`)
  else
    for (const { file } of files)
      console.log(`${camera.name}: ${file}${status === 'present' ? ' is there already' : ''}`)
}

/** With what is behind it: that a certificate is not trusted is three causes deep. */
function explain(error) {
  const messages = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) messages.push(cause.message)
  return messages.join(': ')
}
