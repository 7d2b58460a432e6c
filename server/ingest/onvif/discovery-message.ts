// Messages of WS-Discovery (OASIS, April 2005, as used by ONVIF): probes, and the responses of cameras.

import { cleanText } from './onvif-profiles.ts'
import { findChild, findText, listChildren, parseXml, type XmlBudget, type XmlElement } from './xml.ts'

export type DiscoveryMatch = {
  /** Permanent id of the device, in most cases a URN. */
  readonly id: string
  /** URLs of its device service, as it sent them. */
  readonly urls: readonly string[]
  readonly name: string | undefined
  readonly hardware: string | undefined
  readonly location: string | undefined
}

const namespaces =
  'xmlns:e="http://www.w3.org/2003/05/soap-envelope" xmlns:w="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"'

/**
 * Writes a probe. `messageId`: a UUID. `isForAll`: probes all devices, for cameras that do not respond to a probe for
 * their type.
 */
export function writeProbe(messageId: string, isForAll: boolean): Uint8Array {
  const types = isForAll ? '' : '<d:Types>dn:NetworkVideoTransmitter</d:Types>'
  const text = `<?xml version="1.0" encoding="UTF-8"?><e:Envelope ${namespaces}><e:Header><w:MessageID>uuid:${messageId}</w:MessageID><w:To e:mustUnderstand="true">urn:schemas-xmlsoap-org:ws:2005:04:discovery</w:To><w:Action e:mustUnderstand="true">http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</w:Action></e:Header><e:Body><d:Probe>${types}</d:Probe></e:Body></e:Envelope>`
  return new TextEncoder().encode(text)
}

/**
 * Returns the cameras in a response to one of the probes; none if it is another message. @throws AppError 'corrupt' if
 * it is not XML
 */
export function parseProbeMatches(
  bytes: Uint8Array,
  messageIds: ReadonlySet<string>,
  budget?: XmlBudget,
): DiscoveryMatch[] {
  const envelope = parseXml(bytes, budget)
  const relatesTo = findText(envelope, 'Header', 'RelatesTo')?.replace(/^(urn:)?uuid:/i, '')
  if (relatesTo === undefined || !messageIds.has(relatesTo.toLowerCase())) return []
  return listChildren(findChild(envelope, 'Body', 'ProbeMatches'), 'ProbeMatch').flatMap(
    (match) => readMatch(match) ?? [],
  )
}

/** Undefined for printers and other devices that use the same protocol. */
function readMatch(match: XmlElement): DiscoveryMatch | undefined {
  const id = findText(match, 'EndpointReference', 'Address')
  const scopes = (findText(match, 'Scopes') ?? '').split(/\s+/)
  const isCamera = /NetworkVideoTransmitter/.test(findText(match, 'Types') ?? '') || scopes.some(isOnvif)
  const urls = (findText(match, 'XAddrs') ?? '').split(/\s+/).filter((url) => /^https?:\/\//i.test(url))
  if (id === undefined || !isCamera || urls.length === 0) return undefined
  const scope = (name: string) => {
    const prefix = `${scopePrefix}${name}/`
    const found = scopes.find((text) => text.toLowerCase().startsWith(prefix))
    return cleanText(found && decode(found.slice(prefix.length)))
  }
  return {
    id: id.slice(0, 200),
    urls: urls.slice(0, 8),
    name: scope('name'),
    hardware: scope('hardware'),
    location: scope('location'),
  }
}

const scopePrefix = 'onvif://www.onvif.org/'

function isOnvif(scope: string): boolean {
  return scope.toLowerCase().startsWith(scopePrefix)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
