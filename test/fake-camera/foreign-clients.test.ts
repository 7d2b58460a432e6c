// FFmpeg as a client that is not ours: it must understand the fake camera without a complaint.

import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readTimeCode } from './time-code.ts'

const run = promisify(execFile)
const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0
const skip = hasFfmpeg ? false : 'ffmpeg is not installed'
const tcp = ['-rtsp_transport', 'tcp']

let child: ReturnType<typeof spawn> | undefined
let urls: { readonly [name: string]: string } = {}

before(async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const args = ['--json', '--streams', 'yard,door+audio,load*2', '--auth', 'digest-md5:owner:secret']
  child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  const { streams } = JSON.parse(line) as { streams: { [name: string]: string } }
  urls = Object.fromEntries(Object.entries(streams).map(([name, url]) => [name, url.replace('//', '//owner:secret@')]))
})

after(async () => {
  child?.kill('SIGTERM')
  const [code] = (child && child.exitCode === null ? await once(child, 'exit') : [child?.exitCode]) as [number]
  assert.equal(code, 0, 'SIGTERM ends it in order')
})

test('ffprobe finds H.264 and AAC', { skip }, async () => {
  const entries = 'stream=codec_name,width,height,sample_rate'
  const { stdout } = await run('ffprobe', ['-v', 'error', ...tcp, '-show_entries', entries, '-of', 'json', urls.door!])
  const { streams } = JSON.parse(stdout) as { streams: { codec_name: string }[] }
  assert.deepEqual(
    streams.map((stream) => stream.codec_name),
    ['h264', 'aac'],
  )
})

for (const name of ['door', 'load/1']) {
  test(`ffmpeg decodes ${name} for 2 s without a complaint`, { skip }, async () => {
    const args = ['-v', 'warning', ...tcp, '-i', urls[name]!, '-t', '2', '-f', 'null', '-']
    const { stderr } = await run('ffmpeg', args)
    // Said of every live stream whose frame rate it has to guess; nothing is wrong.
    const complaints = stderr.split('\n').filter((line) => line !== '' && !/max_analyze_duration|probesize/.test(line))
    assert.deepEqual(complaints, [])
  })
}

test('the time code in what ffmpeg decodes and scales is the present', { skip }, async () => {
  const args = [
    '-v',
    'error',
    ...tcp,
    '-i',
    urls.yard!,
    '-frames:v',
    '20',
    '-fps_mode',
    'passthrough',
    '-vf',
    'scale=320:180',
    '-pix_fmt',
    'gray',
    '-f',
    'rawvideo',
    '-',
  ]
  const startedMs = Date.now()
  const { stdout } = await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 1e8 })
  const size = 320 * 180
  let previous = -1
  for (let at = 0; at < stdout.length; at += size) {
    const code = readTimeCode(stdout.subarray(at, at + size), 320, 180)
    assert.ok(code)
    assert.ok(code.frameNumber > previous, 'frames follow each other')
    previous = code.frameNumber
    assert.ok(code.unixMs > startedMs - 15_000 && code.unixMs <= Date.now(), 'frames are of now')
  }
})
