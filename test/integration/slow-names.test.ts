// Names whose name server never responds: an account that uses a hundred of them delays only its own lookups.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import type { StreamDetection } from '../../contract/detection.ts'
import { openDnsServer } from '../dns-server.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

const stream = { name: 'yard', width: 320, height: 180, framesPerSecond: 25, gopFrames: 25, loopSeconds: 4 }

test('a hundred cameras whose name server never answers do not delay the lookups of another account', async () => {
  await using camera = await openFakeCamera({ streams: [{ ...stream, hasAudio: false, bitsPerSecond: 200_000 }] })
  await using dns = await openDnsServer(({ name, type }) => {
    if (name.endsWith('.slow.example')) return 'silent'
    if (name !== 'yard.example') return 'unknown'
    return type === 'A' ? ['127.0.0.1'] : []
  })
  await using server = await openServerHere('--name-servers', dns.address)
  const person = ['--email', 'guest@example.com', '--first-name', 'Gus', '--last-name', 'Guest']
  await server.command('user', 'add', '--password', 'correct horse', ...person)
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', 'guest@example.com')
  const authorization = `PersonalAccessToken ${token}`
  const urlOf = (host: string) => camera.url('yard').replace('127.0.0.1', host)

  const add = (i: number) => ({ name: `${i}`, type: 'h264', url: urlOf(`n${i}.slow.example`) })
  const ids: number[] = []
  for (let i = 0; i < 100; i++) {
    const { json } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body: add(i) })
    ids.push(json.id)
  }
  for (let i = 0; i < 150; i++) {
    const body = { url: urlOf(`m${i}.slow.example`) }
    assert.equal((await server.request(`/v1/cameras/${ids[0]}/`, { method: 'PUT', body })).status, 200)
  }
  await eventually('name servers have been queried', 30_000, async () => dns.questions.length >= 8)

  for (let i = 0; i < 3; i++) {
    const body = { url: urlOf('yard.example') }
    const options = { method: 'POST', body, authorization }
    const { json } = await server.request<StreamDetection>('/v1/cameras/stream-detection/', options)
    assert.deepEqual([json.problem, json.type], [null, 'h264'])
  }
  const form = { grant_type: 'password', username: 'guest@example.com', password: 'correct horse', client_id: 'none' }
  const signedIn = await server.request('/oauth/token/', { method: 'POST', form, authorization: null })
  assert.equal(signedIn.status, 401, 'threads are left for other work')

  const last = await eventually('the cameras are reported as unknown hosts', 120_000, async () => {
    const { json } = await server.request<Camera>(`/v1/cameras/${ids[99]}/`)
    return json.status === 'offline' && json
  })
  assert.equal(last.status_code, 'unknown_host')
  assert.match(last.status_reason!, /n99\.slow\.example/)
})

test("a camera is found by the system's hosts file and by a search domain", async () => {
  await using camera = await openFakeCamera({ streams: [{ ...stream, hasAudio: false, bitsPerSecond: 200_000 }] })
  await using dns = await openDnsServer(({ name, type }) => {
    if (name !== 'yard.lan.example') return 'unknown'
    return type === 'A' ? ['127.0.0.1'] : []
  })
  process.env.LOCALDOMAIN = 'lan.example'
  await using server = await openServerHere('--name-servers', dns.address)
  delete process.env.LOCALDOMAIN
  for (const host of ['yard', 'localhost']) {
    const body = { url: camera.url('yard').replace('127.0.0.1', host) }
    const { json } = await server.request<StreamDetection>('/v1/cameras/stream-detection/', { method: 'POST', body })
    assert.deepEqual([json.problem, json.type], [null, 'h264'], host)
  }
})
