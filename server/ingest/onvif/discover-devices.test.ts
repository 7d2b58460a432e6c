import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import fc from 'fast-check'
import { openOnvifCamera } from '../../../test/onvif/onvif-camera.ts'
import { systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { silentLogger } from '../../base/log.ts'
import { createAddressGuard } from '../network/address-guard.ts'
import { type DiscoverOptions, discoverDevices } from './discover-devices.ts'
import { parseProbeMatches, writeProbe } from './discovery-message.ts'

const discover = (options: Partial<DiscoverOptions>) =>
  discoverDevices({
    addressGuard: createAddressGuard({ allowLoopback: true }),
    clock: systemClock,
    log: silentLogger,
    signal: new AbortController().signal,
    includesLoopback: true,
    ownAddresses: ['127.0.0.1'],
    listenMs: 700,
    ...options,
  })

const scopes = [
  'onvif://www.onvif.org/Profile/S',
  'onvif://www.onvif.org/name/Front%20door',
  'onvif://www.onvif.org/hardware/D4',
]

test('a camera responds to a probe at its IP address', async () => {
  await using camera = await openOnvifCamera({ profiles: [], discovery: { scopes } })
  const destination = { address: '127.0.0.1', port: camera.discoveryPort }
  const found = await discover({ destination })
  assert.equal(found.length, 1, 'a camera that responds several times is listed once')
  const [{ id, ...device }] = found as [(typeof found)[0]]
  assert.match(id, /^urn:uuid:/)
  assert.deepEqual(device, {
    url: camera.url,
    address: '127.0.0.1',
    name: 'Front door',
    hardware: 'D4',
    location: undefined,
  })
})

test('a camera responds to a probe to the multicast group', async (t) => {
  const open = () => openOnvifCamera({ profiles: [], discovery: { scopes, isInGroup: true } })
  const camera = await open().catch((error: Error) => t.skip(`this machine has no multicast: ${error.message}`))
  if (!camera) return
  await using _ = camera
  assert.ok((await discover({})).some(({ url }) => url === camera.url))
})

test('devices with URLs that are not allowed are not listed', async () => {
  const urls = ['http://169.254.169.254/', 'http://127.0.0.1:6379/', 'http://camera.example/onvif', 'ftp://127.0.0.1/']
  await using camera = await openOnvifCamera({ profiles: [], discovery: { scopes, urls } })
  const destination = { address: '127.0.0.1', port: camera.discoveryPort }
  // The name could be resolved, but no lookup is made.
  const lookupAll = async (host: string) => [{ address: host.endsWith('.example') ? '127.0.0.1' : host, family: 4 }]
  const named = createAddressGuard({ allowLoopback: true, lookupAll })
  assert.deepEqual(await discover({ destination, addressGuard: named }), [])
  const addressGuard = createAddressGuard({ allowLoopback: false })
  await using other = await openOnvifCamera({ profiles: [], discovery: { scopes } })
  assert.deepEqual(await discover({ destination: { ...destination, port: other.discoveryPort }, addressGuard }), [])
})

test('invalid messages and responses to other probes are ignored', async () => {
  const socket = createSocket('udp4')
  socket.on('message', (_, { port, address }) => {
    socket.send('<e:Envelope><', port, address)
    socket.send('<a/>', port, address)
    socket.send(
      '<E><Header><RelatesTo>uuid:1</RelatesTo></Header><Body><ProbeMatches><ProbeMatch><EndpointReference><Address>urn:x</Address></EndpointReference><Types>NetworkVideoTransmitter</Types><XAddrs>http://127.0.0.1/</XAddrs></ProbeMatch></ProbeMatches></Body></E>',
      port,
      address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const found = await discover({ destination: { address: '127.0.0.1', port: socket.address().port } })
  socket.close()
  assert.deepEqual(found, [])
})

test('an aborted signal ends the discovery', async () => {
  await assert.rejects(discover({ signal: AbortSignal.abort(new Error('aborted')) }), /aborted/)
})

test('any datagram is parsed or rejected as corrupt', () => {
  const ids = new Set(['1'])
  const chunks = [...new TextDecoder().decode(writeProbe('1', false)).split(/(?=[<>/])/), '<d:XAddrs>', 'uuid:1']
  const hostile = fc.array(fc.oneof(fc.constantFrom(...chunks), fc.string({ maxLength: 4 })), { maxLength: 40 })
  fc.assert(
    fc.property(hostile, (parts) => {
      try {
        parseProbeMatches(new TextEncoder().encode(parts.join('')), ids)
      } catch (error) {
        assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
      }
    }),
    { numRuns: 500 },
  )
})
