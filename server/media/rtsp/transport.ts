// Parses and writes the values of the RTSP headers Transport, Session and RTP-Info (RFC 2326 12.39, 12.37, 12.33).

/** RTP over the RTSP connection itself, with channels for RTP and RTCP. */
export type InterleavedTransport = {
  readonly rtpChannel: number
  readonly rtcpChannel: number
  /** The synchronization source of the sender, if it is stated. */
  readonly ssrc: number | undefined
}

/** RTP over UDP, as the sender answers. */
export type UdpTransport = {
  /** The ports that the sender sends from and receives reports on; undefined when not stated. */
  readonly serverRtpPort: number | undefined
  readonly serverRtcpPort: number | undefined
  readonly isMulticast: boolean
}

/**
 * Returns the first transport of the header that is interleaved and states its channels, or undefined. Some cameras
 * leave the "TCP" out of its name; the channels say it as well.
 */
export function parseInterleavedTransport(value: string): InterleavedTransport | undefined {
  for (const { protocol, parameters } of listTransports(value)) {
    if (!/^RTP\/AVPF?\b/.test(protocol)) continue
    const channels = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(findParameter(parameters, 'interleaved') ?? '')
    if (!channels) continue
    const rtpChannel = Number(channels[1])
    const rtcpChannel = Number(channels[2] ?? rtpChannel + 1)
    if (rtpChannel > 255 || rtcpChannel > 255) continue
    const ssrc = findParameter(parameters, 'ssrc')
    return { rtpChannel, rtcpChannel, ssrc: ssrc && /^[0-9a-f]{1,8}$/i.test(ssrc) ? parseInt(ssrc, 16) : undefined }
  }
  return undefined
}

/** Returns true when the header names RTP over TCP, with or without channels, which some senders omit. */
export function offersTcp(value: string): boolean {
  return (
    parseInterleavedTransport(value) !== undefined ||
    listTransports(value).some(({ protocol }) => protocol === 'RTP/AVP/TCP')
  )
}

export function writeInterleavedTransport({ rtpChannel, rtcpChannel, ssrc }: InterleavedTransport): string {
  const source = ssrc === undefined ? '' : `;ssrc=${ssrc.toString(16).toUpperCase().padStart(8, '0')}`
  return `RTP/AVP/TCP;unicast;interleaved=${rtpChannel}-${rtcpChannel}${source}`
}

/** Returns the first UDP transport of the header, or undefined. */
export function parseUdpTransport(value: string): UdpTransport | undefined {
  const found = listTransports(value).find(({ protocol }) => protocol === 'RTP/AVP' || protocol === 'RTP/AVP/UDP')
  if (!found) return undefined
  const ports = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(findParameter(found.parameters, 'server_port') ?? '')
  const serverRtpPort = toPort(ports?.[1])
  const next = serverRtpPort === undefined ? undefined : toPort(String(serverRtpPort + 1))
  return {
    serverRtpPort,
    serverRtcpPort: ports?.[2] === undefined ? next : toPort(ports[2]),
    isMulticast: found.parameters.some((parameter) => parameter.toLowerCase() === 'multicast'),
  }
}

/** The transport that a receiver requests. `unicast` must be stated, because multicast is the default. */
export function writeUdpTransport(clientRtpPort: number): string {
  return `RTP/AVP;unicast;client_port=${clientRtpPort}-${clientRtpPort + 1}`
}

/** Returns the ports that a receiver requests, or undefined when it requests something else. */
export function parseClientPorts(value: string): { readonly rtp: number; readonly rtcp: number } | undefined {
  for (const { protocol, parameters } of listTransports(value)) {
    if (protocol !== 'RTP/AVP' && protocol !== 'RTP/AVP/UDP') continue
    const ports = /^(\d{1,5})-(\d{1,5})$/.exec(findParameter(parameters, 'client_port') ?? '')
    const rtp = toPort(ports?.[1])
    const rtcp = toPort(ports?.[2])
    if (rtp !== undefined && rtcp !== undefined) return { rtp, rtcp }
  }
  return undefined
}

function listTransports(value: string): { protocol: string; parameters: string[] }[] {
  return value.split(',').map((transport) => {
    const [protocol = '', ...parameters] = transport.split(';').map((part) => part.trim())
    return { protocol: protocol.toUpperCase(), parameters }
  })
}

function toPort(text: string | undefined): number | undefined {
  const port = Number(text)
  return port >= 1 && port <= 0xffff ? port : undefined
}

/** The session id, and how long the server keeps the session without a request; 60 s unless stated. */
export type RtspSession = {
  readonly id: string
  readonly timeoutMs: number
}

export function parseSessionHeader(value: string): RtspSession | undefined {
  const [id = '', ...parameters] = value.split(';').map((part) => part.trim())
  if (id === '') return undefined
  const timeout = Number(findParameter(parameters, 'timeout'))
  return { id, timeoutMs: timeout > 0 && timeout <= 86_400 ? timeout * 1000 : 60_000 }
}

export function writeSessionHeader({ id, timeoutMs }: RtspSession): string {
  return `${id};timeout=${Math.round(timeoutMs / 1000)}`
}

/** The start of a stream: sequence number and timestamp of its first RTP packet. */
export type RtpInfo = {
  readonly url: string
  readonly sequence: number | undefined
  readonly rtpTime: number | undefined
}

export function parseRtpInfo(value: string): RtpInfo[] {
  // A URL may contain commas and semicolons, so an entry is recognized by its "url=".
  return value
    .split(/,(?=\s*url\s*=)/i)
    .map((entry) => entry.split(';').map((part) => part.trim()))
    .flatMap((parameters) => {
      const url = findParameter(parameters, 'url')
      if (url === undefined) return []
      return [
        {
          url,
          sequence: integerBelow(findParameter(parameters, 'seq'), 0x1_0000),
          rtpTime: integerBelow(findParameter(parameters, 'rtptime'), 0x1_0000_0000),
        },
      ]
    })
}

export function writeRtpInfo(entries: readonly RtpInfo[]): string {
  return entries
    .map(({ url, sequence, rtpTime }) => {
      const seq = sequence === undefined ? '' : `;seq=${sequence}`
      return `url=${url}${seq}${rtpTime === undefined ? '' : `;rtptime=${rtpTime}`}`
    })
    .join(',')
}

function findParameter(parameters: readonly string[], name: string): string | undefined {
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=')
    if (equals > 0 && parameter.slice(0, equals).trim().toLowerCase() === name) {
      return parameter
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
    }
  }
  return undefined
}

function integerBelow(text: string | undefined, limit: number): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value < limit ? value : undefined
}
