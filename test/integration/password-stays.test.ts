// The password of a camera is sent only to the scheme, host and port that it was entered for: not to another service to
// which the URL is changed, and not to one that the camera advertises.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Camera } from '../../contract/camera.ts'
import type { OnvifDevice } from '../../contract/detection.ts'
import { openOnvifCamera } from '../onvif/onvif-camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

/** Requires Basic authentication of every client and records the credentials it receives. */
async function openThief(t: TestContext) {
  const credentials: string[] = []
  let requests = 0
  const thief = createServer((request, response) => {
    requests++
    const { authorization } = request.headers
    if (authorization !== undefined) credentials.push(authorization)
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (/UsernameToken/.test(body)) credentials.push(body)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    })
  })
  thief.listen(0, '127.0.0.1')
  await once(thief, 'listening')
  t.after(() => {
    thief.closeAllConnections()
    thief.close()
  })
  const { port } = thief.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, credentials, requests: () => requests }
}

const login = { username: 'ada', password: 'sesame' }

test('a change of the URL from TLS to clear text at the same host and port does not keep the password', async (t) => {
  const thief = await openThief(t)
  await using server = await openServerHere()
  const body = { name: 'Door', type: 'mjpeg', url: `https://${thief.host}/video`, ...login }
  const { id } = (await server.request<Camera>('/v1/cameras/', { method: 'POST', body })).json
  const path = `/v1/cameras/${id}/`
  await server.request(path, { method: 'PUT', body: { url: `http://${thief.host}/video` } })
  const { status_code } = await eventually('the camera is offline', 60_000, async () => {
    const { json } = await server.request<Camera>(path)
    return thief.requests() > 0 && json.status_code?.startsWith('login') && json
  })
  assert.equal(status_code, 'login_needed')
  assert.deepEqual(thief.credentials, [])
  const source = await server.request<{ username: string | null; has_password: boolean }>(`${path}source/`)
  assert.deepEqual([source.json.username, source.json.has_password], [null, false])
  await server.request(path, { method: 'PUT', body: { url: `http://${thief.host}/other`, ...login } })
  await eventually('the credentials entered with the URL are sent', 60_000, async () => thief.credentials.length > 0)
  const length = thief.credentials.length
  await server.request(path, { method: 'PUT', body: { url: `http://${thief.host}/video` } })
  await eventually(
    'they are kept for another path of the same service',
    60_000,
    async () => thief.credentials.length > length,
  )
})

test('a device that advertises its services at another port is queried at the original port only', async (t) => {
  const thief = await openThief(t)
  const size = { encoding: 'H264', width: 640, height: 360 }
  const profiles = [{ ...size, token: 'main', name: 'Main', url: 'rtsp://127.0.0.1:8554/main' }]
  await using camera = await openOnvifCamera({ profiles, reportedHost: thief.host })
  await using server = await openServerHere()
  const body = { url: camera.url, ...login }
  const { json } = await server.request<OnvifDevice>('/v1/cameras/onvif-profiles/', { method: 'POST', body })
  assert.deepEqual([json.problem, json.profiles[0]?.url], [null, 'rtsp://127.0.0.1:8554/main'])
  assert.equal(thief.requests(), 0)
  assert.deepEqual(thief.credentials, [])
})
