// The fake camera as a program of its own, for the demo and the benches: prints its URLs on one line, runs until told
// to stop.

import { parseArgs } from 'node:util'
import { watchParent } from '../../server/commands/parent-watch.ts'
import { telephoneCodings } from '../../server/media/telephony/telephone-coding.ts'
import { openFakeCamera } from './fake-camera.ts'
import type { CameraAuth } from './rtsp/access.ts'
import { type SceneName, sceneNames } from './scene/scene.ts'
import { createLoadStreams, type StreamOptions } from './source/stream-options.ts'

const usage = `node test/fake-camera/main.ts [options]
  --streams LIST   comma-separated: yard, door (scenes), with audio as yard+audio or yard+pcmu, with another codec as yard+h265; load*40 for load/0 … load/39  [yard,door+audio]
  --port N         0 = any free port  [0]
  --host ADDRESS   [127.0.0.1]
  --size WxH       of yard and door  [960x540]
  --fps N          of yard and door  [15]
  --auth SCHEME:USER:PASSWORD   SCHEME = basic, digest-md5 or digest-sha256
  --session-timeout SECONDS     [60]
  --json           print one JSON line {"port", "streams": {name: url}, "pid"} when ready`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      streams: { type: 'string', default: 'yard,door+audio' },
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      size: { type: 'string', default: '960x540' },
      fps: { type: 'string', default: '15' },
      auth: { type: 'string' },
      'session-timeout': { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return
  }
  const [width = 960, height = 540] = values.size.split('x').map(Number)
  const streams = values.streams
    .split(',')
    .flatMap((word) => parseStream(word, { width, height, framesPerSecond: Number(values.fps) }))
  await using camera = await openFakeCamera({
    port: Number(values.port),
    host: values.host,
    streams,
    sessionTimeoutMs: Number(values['session-timeout']) * 1000,
    ...(values.auth && { auth: parseAuth(values.auth) }),
  })
  const urls = Object.fromEntries(streams.map(({ name }) => [name, camera.url(name)]))
  if (values.json) console.log(JSON.stringify({ port: camera.port, streams: urls, pid: process.pid }))
  else for (const url of Object.values(urls)) console.log(url)
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
    watchParent(resolve)
  })
}

function parseStream(word: string, picture: Omit<StreamOptions, 'name'>): StreamOptions[] {
  const load = /^load\*(\d+)$/.exec(word)
  if (load) return createLoadStreams(Number(load[1]))
  const [name = '', ...features] = word.split('+')
  const scene = sceneNames.find((each): each is SceneName => each === name)
  if (!scene) throw new Error(`--streams: expected ${sceneNames.join(', ')} or load*N, not ${word}`)
  const codec = (['h265', 'mjpeg'] as const).find((each) => features.includes(each))
  const audio = telephoneCodings.find((each) => features.includes(each))
  const hasAudio = audio !== undefined || features.includes('audio')
  return [{ ...picture, name, scene, hasAudio, ...(codec && { codec }), ...(audio && { audio }) }]
}

function parseAuth(text: string): CameraAuth {
  const [scheme, username = '', ...password] = text.split(':')
  if (scheme !== 'basic' && scheme !== 'digest-md5' && scheme !== 'digest-sha256') {
    throw new Error('--auth: expected basic, digest-md5 or digest-sha256 before the first colon')
  }
  return { scheme, username, password: password.join(':') }
}

await main()
