// The ONVIF side of a camera for tests: a real SOAP service over HTTP that checks both kinds of login, and a real
// responder of discovery over UDP. It has no video; the URLs of its streams are passed to it. It is not part of the
// server.

import { createHash, randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { findChild, findText, parseXml, type XmlElement } from '../../server/ingest/onvif/xml.ts'
import { parseAuthParameters } from '../../server/media/rtsp/challenge.ts'

export type OnvifCameraProfile = {
  readonly token: string
  readonly name: string
  /** Name in ONVIF: H264, H265 or JPEG. */
  readonly encoding: string
  readonly width: number
  readonly height: number
  readonly hasAudio?: boolean
  /** The stream URL that it returns; a fault if undefined. */
  readonly url: string | undefined
}

export type OnvifCameraOptions = {
  readonly profiles: readonly OnvifCameraProfile[]
  /** `wsse` is a login in the message, `digest` is HTTP Digest. Without it no login is needed. */
  readonly auth?: { readonly kind: 'wsse' | 'digest'; readonly username: string; readonly password: string }
  /**
   * Supported services: without `media2`, H.265 is not reported; without `services`, only GetCapabilities is supported.
   */
  readonly lacks?: readonly ('media2' | 'services' | 'time')[]
  /** Offset of its clock from the right time. */
  readonly clockOffsetMs?: number
  /** Host in the URLs of its services, if different from its own. */
  readonly reportedHost?: string
  /**
   * Replaces the response to an operation: a status and body, `silence` for no response, or undefined for the usual
   * one.
   */
  readonly answer?: (operation: string) => { readonly status?: number; readonly body?: string } | undefined | 'silence'
  /**
   * Also responds to discovery, with these scopes: on a port of its own on 127.0.0.1, or in the multicast group on
   * the loopback interface.
   */
  readonly discovery?: {
    readonly scopes: readonly string[]
    readonly isInGroup?: boolean
    readonly urls?: readonly string[]
  }
}

export type OnvifCamera = AsyncDisposable & {
  readonly url: string
  readonly host: string
  /** Requested operations in order, including those that were refused. */
  readonly operations: string[]
  /** Where it responds to discovery. */
  readonly discoveryPort: number
}

const path = '/onvif/device_service'

export async function openOnvifCamera(options: OnvifCameraOptions): Promise<OnvifCamera> {
  const operations: string[] = []
  const server = createServer((request, response) => {
    void respond(request, response, options, operations, () => host).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as { port: number }).port}`
  const url = `http://${host}${path}`
  const { discovery } = options
  const udp = discovery && (await openDiscovery({ ...discovery, urls: discovery.urls ?? [url] }))
  return {
    url,
    host,
    operations,
    discoveryPort: udp?.port ?? 0,
    async [Symbol.asyncDispose]() {
      udp?.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: OnvifCameraOptions,
  operations: string[],
  hostOf: () => string,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const envelope = parseXml(Buffer.concat(chunks))
  const operation = findChild(envelope, 'Body')!.children[0]!
  operations.push(operation.name)
  const send = (status: number, body: string, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'application/soap+xml; charset=utf-8', ...headers }).end(body)
  const special = options.answer?.(operation.name)
  if (special === 'silence') return
  if (special) return void send(special.status ?? 200, special.body ?? '')
  const isPublic = operation.name === 'GetSystemDateAndTime'
  if (!isPublic && options.auth?.kind === 'digest' && !isDigest(request, options.auth)) {
    return void send(401, '', { 'www-authenticate': 'Digest realm="onvif", qop="auth", nonce="abc123", algorithm=MD5' })
  }
  if (!isPublic && options.auth?.kind === 'wsse' && !isToken(envelope, options)) {
    return void send(400, writeFault('ter:NotAuthorized'))
  }
  const answer = answerOperation(operation, options, options.reportedHost ?? hostOf())
  send(
    answer === undefined ? 500 : 200,
    answer === undefined ? writeFault('ter:ActionNotSupported') : writeBody(answer),
  )
}

function answerOperation(operation: XmlElement, options: OnvifCameraOptions, host: string): string | undefined {
  const { profiles, lacks = [], clockOffsetMs = 0 } = options
  const service = (namespace: string, at: string) =>
    `<tds:Service><tds:Namespace>${namespace}</tds:Namespace><tds:XAddr>http://${host}${at}</tds:XAddr></tds:Service>`
  // The first media service does not list H.265 profiles.
  const isMedia2 = !lacks.includes('media2')
  const listed = profiles.filter(({ encoding }) => isMedia2 || encoding !== 'H265')
  switch (operation.name) {
    case 'GetSystemDateAndTime':
      return lacks.includes('time') ? undefined : writeTime(new Date(Date.now() + clockOffsetMs))
    case 'GetDeviceInformation':
      return '<tds:GetDeviceInformationResponse><tds:Manufacturer>Acme &amp; Sons</tds:Manufacturer><tds:Model>Dome 4</tds:Model><tds:FirmwareVersion>1.2.3</tds:FirmwareVersion><tds:SerialNumber>77</tds:SerialNumber></tds:GetDeviceInformationResponse>'
    case 'GetServices':
      if (lacks.includes('services')) return undefined
      return `<tds:GetServicesResponse>${service('http://www.onvif.org/ver10/media/wsdl', '/onvif/media')}${
        isMedia2 ? service('http://www.onvif.org/ver20/media/wsdl', '/onvif/media2') : ''
      }</tds:GetServicesResponse>`
    case 'GetCapabilities':
      return `<tds:GetCapabilitiesResponse><tds:Capabilities><tt:Media><tt:XAddr>http://${host}/onvif/media</tt:XAddr></tt:Media></tds:Capabilities></tds:GetCapabilitiesResponse>`
    case 'GetProfiles':
      return `<GetProfilesResponse>${listed.map((profile) => writeProfile(profile, isMedia2)).join('')}</GetProfilesResponse>`
    case 'GetStreamUri':
    case 'GetSnapshotUri': {
      const { url } = profiles.find(({ token }) => token === findText(operation, 'ProfileToken')) ?? {}
      if (url === undefined) return undefined
      const advertisedUrl = operation.name === 'GetStreamUri' ? url : `http://${host}/snapshot.jpg?channel=1&subtype=0`
      const uri = `<tt:Uri>${advertisedUrl.replaceAll('&', '&amp;')}</tt:Uri>`
      return `<${operation.name}Response>${isMedia2 ? uri : `<MediaUri>${uri}</MediaUri>`}</${operation.name}Response>`
    }
    default:
      return undefined
  }
}

function writeProfile(
  { token, name, encoding, width, height, hasAudio }: OnvifCameraProfile,
  isMedia2: boolean,
): string {
  const resolution = `<tt:Resolution><tt:Width>${width}</tt:Width><tt:Height>${height}</tt:Height></tt:Resolution>`
  const rate =
    '<tt:RateControl><tt:FrameRateLimit>25</tt:FrameRateLimit><tt:BitrateLimit>2048</tt:BitrateLimit></tt:RateControl>'
  const [video, audio] = isMedia2
    ? ['VideoEncoder', 'AudioEncoder']
    : ['VideoEncoderConfiguration', 'AudioEncoderConfiguration']
  const encoders = `<tt:${video} token="v"><tt:Encoding>${encoding}</tt:Encoding>${resolution}${rate}</tt:${video}>${
    hasAudio ? `<tt:${audio} token="a"><tt:Encoding>AAC</tt:Encoding></tt:${audio}>` : ''
  }`
  const content = isMedia2 ? `<tr2:Configurations>${encoders}</tr2:Configurations>` : encoders
  return `<trt:Profiles token="${token}" fixed="true"><tt:Name>${name}</tt:Name>${content}</trt:Profiles>`
}

const writeBody = (content: string) =>
  `<?xml version="1.0"?><SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope"><SOAP-ENV:Body>${content}</SOAP-ENV:Body></SOAP-ENV:Envelope>`

const writeFault = (subcode: string) =>
  writeBody(
    `<SOAP-ENV:Fault><SOAP-ENV:Code><SOAP-ENV:Value>SOAP-ENV:Sender</SOAP-ENV:Value><SOAP-ENV:Subcode><SOAP-ENV:Value>${subcode}</SOAP-ENV:Value></SOAP-ENV:Subcode></SOAP-ENV:Code><SOAP-ENV:Reason><SOAP-ENV:Text>secret reasons</SOAP-ENV:Text></SOAP-ENV:Reason></SOAP-ENV:Fault>`,
  )

function writeTime(at: Date): string {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()]
  const time = `<tt:Time><tt:Hour>${at.getUTCHours()}</tt:Hour><tt:Minute>${at.getUTCMinutes()}</tt:Minute><tt:Second>${at.getUTCSeconds()}</tt:Second></tt:Time>`
  const date = `<tt:Date><tt:Year>${year}</tt:Year><tt:Month>${month}</tt:Month><tt:Day>${day}</tt:Day></tt:Date>`
  return `<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:UTCDateTime>${time}${date}</tt:UTCDateTime></tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>`
}

type Auth = NonNullable<OnvifCameraOptions['auth']>

function isDigest({ headers, method, url }: IncomingMessage, { username, password }: Auth): boolean {
  const given = parseAuthParameters(headers.authorization ?? '')?.parameters
  if (!given) return false
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const secret = md5(`${username}:onvif:${password}`)
  const parts = [given.get('nonce'), given.get('nc'), given.get('cnonce'), given.get('qop')].join(':')
  const expected = md5(`${secret}:${parts}:${md5(`${method}:${url}`)}`)
  return given.get('username') === username && given.get('uri') === url && given.get('response') === expected
}

/** The timestamp may be at most five seconds old by the camera's clock. */
function isToken(envelope: XmlElement, { auth, clockOffsetMs = 0 }: OnvifCameraOptions): boolean {
  const token = findChild(envelope, 'Header', 'Security', 'UsernameToken')
  const created = findText(token, 'Created') ?? ''
  const nonce = Buffer.from(findText(token, 'Nonce') ?? '', 'base64')
  const expected = createHash('sha1').update(nonce).update(created).update(auth!.password).digest('base64')
  const ageMs = Date.now() + clockOffsetMs - Date.parse(created)
  const isRight = findText(token, 'Username') === auth!.username && findText(token, 'Password') === expected
  return isRight && nonce.length >= 8 && Math.abs(ageMs) < 5000
}

type Discovery = { readonly scopes: readonly string[]; readonly isInGroup?: boolean; readonly urls: readonly string[] }

async function openDiscovery({ scopes, isInGroup, urls }: Discovery): Promise<{ port: number; close(): void }> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  const id = `urn:uuid:${randomUUID()}`
  socket.on('message', (bytes, from) => {
    const probe = parseXml(bytes)
    const messageId = findText(probe, 'Header', 'MessageID')
    if (!findChild(probe, 'Body', 'Probe')) return
    const match = `<d:ProbeMatch><w:EndpointReference><w:Address>${id}</w:Address></w:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>${scopes.join(' ')}</d:Scopes><d:XAddrs>${urls.join(' ')}</d:XAddrs></d:ProbeMatch>`
    const answer = `<?xml version="1.0"?><e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Header><w:RelatesTo>${messageId}</w:RelatesTo></e:Header><e:Body><d:ProbeMatches>${match}</d:ProbeMatches></e:Body></e:Envelope>`
    socket.send(answer, from.port, from.address)
  })
  const at = isInGroup ? { port: 3702, address: '239.255.255.250' } : { port: 0, address: '127.0.0.1' }
  await new Promise<void>((resolve, reject) => socket.once('error', reject).bind(at, resolve))
  if (isInGroup) socket.addMembership(at.address, '127.0.0.1')
  return { port: socket.address().port, close: () => socket.close() }
}
