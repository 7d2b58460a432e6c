// Messages of ONVIF: SOAP 1.2 envelopes, and the login inside them (WS-Security UsernameToken Profile 1.0 with a
// password digest).

import { createHash, randomBytes } from 'node:crypto'
import type { Credentials } from '../network/camera-auth.ts'
import { CameraError } from '../network/camera-error.ts'
import { escapeXml, findChild, type XmlElement } from './xml.ts'

const namespaces = {
  s: 'http://www.w3.org/2003/05/soap-envelope',
  tt: 'http://www.onvif.org/ver10/schema',
  tds: 'http://www.onvif.org/ver10/device/wsdl',
  trt: 'http://www.onvif.org/ver10/media/wsdl',
  tr2: 'http://www.onvif.org/ver20/media/wsdl',
} as const

/** Namespaces of services, by the prefix that `writeEnvelope` uses. */
export const serviceNamespaces = { trt: namespaces.trt, tr2: namespaces.tr2 } as const

const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-'

/** `body`: elements with the prefixes tt, tds, trt and tr2. */
export function writeEnvelope(body: string, security = ''): string {
  const declared = Object.entries(namespaces).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`)
  const header = security === '' ? '' : `<s:Header>${security}</s:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope${declared.join('')}>${header}<s:Body>${body}</s:Body></s:Envelope>`
}

/** `createdMs`: by the clock of the camera, which refuses times that are too old or in the future. */
export function writeSecurity({ username, password }: Credentials, createdMs: number, nonce = randomBytes(16)): string {
  const created = `${new Date(createdMs).toISOString().slice(0, 19)}Z`
  const digest = createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  return `<wsse:Security s:mustUnderstand="1" xmlns:wsse="${wsse}wssecurity-secext-1.0.xsd" xmlns:wsu="${wsse}wssecurity-utility-1.0.xsd"><wsse:UsernameToken><wsse:Username>${escapeXml(username)}</wsse:Username><wsse:Password Type="${wsse}username-token-profile-1.0#PasswordDigest">${digest}</wsse:Password><wsse:Nonce EncodingType="${wsse}soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</wsse:Nonce><wsu:Created>${created}</wsu:Created></wsse:UsernameToken></wsse:Security>`
}

/** Returns the content of the body. @throws CameraError if it is a fault, or if there is no envelope */
export function readEnvelope(envelope: XmlElement, hasCredentials: boolean): XmlElement {
  const [content] = findChild(envelope, 'Body')?.children ?? []
  if (envelope.name !== 'Envelope' || !content) throw describeNoOnvif()
  if (content.name !== 'Fault') return content
  // The reasons in a fault are not repeated, because the user who chose the host could read them.
  if (listCodes(content).some((code) => /NotAuthorized|FailedAuthentication|InvalidSecurity/i.test(code))) {
    throw describeOnvifLogin(hasCredentials)
  }
  throw new CameraError('no_frames', 'The camera refused the ONVIF request.', { problem: 'failed' })
}

/** `status`: the HTTP status, if the login was refused by it. */
export function describeOnvifLogin(hasCredentials: boolean, status?: number): CameraError {
  const detail = hasCredentials
    ? 'The camera refused the username or password: check both. Many cameras have separate users for ONVIF, which are created on the web page of the camera.'
    : 'The camera requires a username and password: enter them. Many cameras have separate users for ONVIF, which are created on the web page of the camera.'
  const problem = hasCredentials ? 'login_refused' : 'login_needed'
  return new CameraError('auth_failed', detail, { problem, ...(status !== undefined && { status }) })
}

export function describeNoOnvif(cause?: unknown): CameraError {
  const detail =
    'No ONVIF service was found at this URL: check the port (often 80, 8000, 8080 or 2020), and enable ONVIF in the camera.'
  return new CameraError('no_frames', detail, { problem: 'not_a_camera', cause })
}

/** Lists the codes of a fault, also of SOAP 1.1, beginning with the most general. */
function listCodes(fault: XmlElement): string[] {
  const codes: string[] = []
  const old = findChild(fault, 'faultcode')
  if (old) codes.push(old.text)
  for (let code = findChild(fault, 'Code'); code; code = findChild(code, 'Subcode')) {
    codes.push(findChild(code, 'Value')?.text ?? '')
  }
  return codes
}
