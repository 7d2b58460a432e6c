// The example script that downloads footage, run in a project of its own, with a camera and a server that was restarted
// in between.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkIncreasing, decode, probe } from '../e2e/media-probe.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { parsePlaylist } from '../playback/parse-playlist.ts'
import { openSdkProject, type Project } from '../sdk-project.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const small = { framesPerSecond: 10, gopFrames: 10, hasAudio: true }

let source: FakeCamera
let server: ServerUnderTest
let project: Project
let out: string
let doorId: number
/** A time range that contains a restart and a format change. */
let range: string[]

type Result = { camera: { name: string }; status: string; reason?: string; files: { file: string; seconds?: number }[] }
type Run = { code: number; stdout: string; stderr: string }

before(async () => {
  source = await openFakeCamera({
    streams: [
      { name: 'wide', scene: 'door', width: 640, height: 360, ...small },
      { name: 'narrow', scene: 'door', width: 320, height: 180, ...small },
    ],
  })
  server = await openServerHere()
  const add = async (name: string, url: string, ...rest: string[]) => {
    return server.addCamera(name, url, ...rest)
  }
  doorId = await add('Front door / left', source.url('wide'), '--record', 'P1D')
  await add('Away', 'rtsp://127.0.0.1:9/away', '--record', 'P1D')
  await add('Not recorded', source.url('narrow'))
  project = await openSdkProject({
    from: fileURLToPath(new URL('../../examples', import.meta.url)),
    packages: ['hls.js'],
  })
  out = join(project.folder, 'out')

  const startMs = await eventually('footage', 30_000, async () => {
    const { json } = await server.request<{ recording_start: string | null }>(`/v1/cameras/${doorId}/recording/`)
    return json.recording_start !== null && Date.parse(json.recording_start)
  })
  // The range does not begin at the first key frame, and still the file must begin at 0.
  const fromMs = startMs + 1500
  await awaitFootage(fromMs, { parts: 1, formats: 1 })
  await server.stop()
  await server.start()
  await awaitFootage(fromMs, { parts: 2, formats: 1 })
  await server.request(`/v1/cameras/${doorId}/`, { method: 'PUT', body: { url: source.url('narrow') } })
  const endMs = await awaitFootage(fromMs, { parts: 3, formats: 2 })
  range = ['--from', new Date(fromMs).toISOString(), '--to', new Date(endMs).toISOString()]
})

after(async () => {
  await project?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await source?.[Symbol.asyncDispose]()
})

/**
 * Waits for at least this many parts with gaps between them and for two seconds of the last part. Returns the end of
 * the footage.
 */
function awaitFootage(fromMs: number, expected: { parts: number; formats: number }): Promise<number> {
  return eventually(`${expected.parts} parts of footage in ${expected.formats} formats`, 60_000, async () => {
    const url = await createStream(fromMs)
    if (!url) return undefined
    const { entries } = parsePlaylist((await server.request(new URL(url).pathname)).text)
    const formats = new Set<string>()
    let parts = 0
    let last = { dateMs: 0, seconds: 0 }
    for (const { tags, dateMs, seconds } of entries) {
      const [, uri, bytes] = /URI="(.*)",BYTERANGE="(\d+)@0"/.exec(tags.join('\n')) ?? []
      if (uri !== undefined) {
        const headers = { range: `bytes=0-${Number(bytes) - 1}` }
        formats.add((await server.request(new URL(uri, url).pathname, { headers })).bytes.toString('hex'))
        parts++
        last = { dateMs: dateMs!, seconds: 0 }
      }
      last.seconds += seconds
    }
    const isThere = parts >= expected.parts && formats.size === expected.formats && last.seconds >= 2
    return isThere && last.dateMs + 2000
  })
}

/** Undefined if there is no footage. */
async function createStream(fromMs: number): Promise<string | undefined> {
  const path = `/v1/cameras/${doorId}/recording/stream/?start=${new Date(fromMs).toISOString()}&end=${new Date().toISOString()}`
  const { status, json } = await server.request<{ url: string }>(path)
  return status === 200 ? json.url : undefined
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  const script = join(project.folder, 'footage', 'download.js')
  const given = { NIGHTJAR_URL: server.url, NIGHTJAR_TOKEN: server.token, NODE_EXTRA_CA_CERTS: server.caFile }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [script, ...args],
      { env: { ...process.env, ...given, ...env } },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

async function download(...args: string[]): Promise<Result[]> {
  const { code, stdout, stderr } = await run(['--json', '--out', out, ...args])
  assert.deepEqual([code, stderr], [0, ''])
  return (JSON.parse(stdout) as { results: Result[] }).results
}

test('a time range with a restart and a format change becomes two files that play from their beginning', async () => {
  const [door, away, ...others] = await download(...range)
  assert.deepEqual([door!.camera.name, door!.status], ['Front door / left', 'downloaded'])
  assert.deepEqual([away!.camera.name, away!.status, away!.files], ['Away', 'no_footage', []])
  assert.deepEqual(others, []) // what is not recorded is not asked for
  const names = await readdir(out)
  assert.deepEqual(names.sort(), door!.files.map(({ file }) => file.slice(out.length + 1)).sort())
  assert.match(names[0]!, /^Front-door-left-\d+-\d{4}-\d\d-\d\d-\d{6}-to-\d{4}-\d\d-\d\d-\d{6}(-2)?\.mp4$/)
  const widths = []
  for (const { file, seconds } of door!.files) {
    const { video, audio, complaints } = await probe(file)
    assert.equal(complaints, '')
    widths.push(video!.width)
    assert.ok(video!.packets[0]!.isKey)
    const begin = Math.min(video!.packets[0]!.dtsSeconds, audio!.packets[0]!.dtsSeconds)
    assert.ok(begin < 0.001, `begins at ${begin} s`)
    checkIncreasing(video!, Number.POSITIVE_INFINITY)
    checkIncreasing(audio!, Number.POSITIVE_INFINITY)
    const endSeconds = video!.packets.at(-1)!.dtsSeconds
    assert.ok(Math.abs(endSeconds - seconds!) <= 1.5, `${endSeconds} s of ${seconds} s`)
    await decode(file)
  }
  assert.deepEqual(widths, [640, 320])
})

test('files that already exist are not changed', async () => {
  const before = await readdir(out)
  const [door] = await download(...range, '--camera', String(doorId))
  assert.equal(door!.status, 'present')
  assert.deepEqual(await readdir(out), before)
})

test('an interrupted download is resumed, or restarted if its stream is gone, and the bytes are the same', async () => {
  const [door] = await download(...range, '--camera', String(doorId))
  const first = door!.files[0]!.file
  const whole = await readFile(first)
  const [, from, , to] = range
  const path = `/v1/cameras/${doorId}/recording/stream/?start=${from}&end=${to}`
  const { url } = (await server.request<{ url: string }>(path)).json
  const playlist = (await server.request(new URL(url).pathname)).text
  const offset = /#EXT-X-BYTERANGE:\d+@(\d+)\n(.*)/.exec(playlist)!
  const begin = `${new URL(offset[2]!, url).href} ${offset[1]}`
  const gone = url.replace(/streams\/\w+/, `streams/${'0'.repeat(32)}`)
  const states = [
    { url, begin, bytes: Math.floor(whole.length * 0.9) },
    { url, begin, bytes: 10 },
    { url, begin: 'elsewhere 0', bytes: 5000 },
    { url: gone, begin, bytes: 5000 },
  ]
  for (const { bytes, ...state } of states) {
    await copyFile(first, `${first}.part`)
    await truncate(`${first}.part`, bytes)
    await rm(first)
    await writeFile(`${first}.part.json`, JSON.stringify(state))
    const [again] = await download(...range, '--camera', String(doorId))
    assert.equal(again!.status, 'downloaded')
    assert.ok(whole.equals(await readFile(first)), `resumed at ${bytes} of ${whole.length} bytes`)
    assert.deepEqual(
      (await readdir(out)).filter((name) => name.includes('.part')),
      [],
    )
  }
})

test('results and invalid input are reported to the user', async () => {
  const result = await run(['--out', out, ...range])
  assert.equal(result.code, 0)
  assert.match(result.stdout, /^Front door \/ left: .*\.mp4 is there already$/m)
  assert.match(result.stdout, /^Away: nothing was recorded then$/m)
  assert.match((await run(['--help'])).stdout, /^Usage: /)
  const cases: [string[], Record<string, string>, number, RegExp][] = [
    [['--bogus'], {}, 2, /'--bogus'/],
    [['--date', '2026-02-31'], {}, 2, /--date: expected a day/],
    [['--date', '2999-01-01'], {}, 2, /has not begun yet/],
    [['--from', 'yesterday'], {}, 2, /--from: expected a time/],
    [['--to', '2026-01-01T00:00'], {}, 2, /--to needs --from/],
    [['--from', '2026-01-02T00:00', '--to', '2026-01-01T00:00'], {}, 2, /after --from/],
    [['--camera', 'x'], {}, 2, /number of a camera/],
    [[], { NIGHTJAR_TOKEN: '' }, 2, /NIGHTJAR_TOKEN is not set/],
    [[], { NIGHTJAR_URL: '' }, 2, /NIGHTJAR_URL/],
    [[], { NIGHTJAR_TOKEN: 'njp_wrong' }, 1, /Authentication credentials were not provided\./],
    [['--camera', '999'], {}, 1, /There is no camera 999\./],
    [[], { NODE_EXTRA_CA_CERTS: '' }, 1, /could not be reached.*certificate/],
  ]
  for (const [args, env, code, message] of cases) {
    const answer = await run(args, env)
    assert.deepEqual([answer.code, answer.stdout], [code, ''], args.join(' '))
    assert.match(answer.stderr, message)
  }
})

test('the length of a day follows the local clock', async () => {
  const module = join(project.folder, 'footage', 'range.js')
  const ask = (date: string | undefined, now: string) => `
    const { readRange } = await import(${JSON.stringify(module)})
    const { start, end, label } = readRange({ date: ${JSON.stringify(date)} }, new Date('${now}'))
    console.log(JSON.stringify([start, end, label]))`
  const cases: [string | undefined, string, string[]][] = [
    [undefined, '2026-03-30T10:00:00Z', ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', '2026-03-29']],
    ['2026-10-25', '2026-11-30T10:00:00Z', ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', '2026-10-25']],
    [
      '2026-11-21',
      '2026-11-21T10:00:00Z',
      ['2026-11-20T23:00:00.000Z', '2026-11-21T10:00:00.000Z', '2026-11-21-000000-to-2026-11-21-110000'],
    ],
  ]
  for (const [date, now, expected] of cases) {
    const env = { ...process.env, TZ: 'Europe/Berlin' }
    const args = ['--input-type=module', '-e', ask(date, now)]
    const answer = await new Promise<string>((resolve, reject) =>
      execFile(process.execPath, args, { env }, (error, stdout) => (error ? reject(error) : resolve(stdout))),
    )
    assert.deepEqual(JSON.parse(answer), expected)
  }
})
