// The values of the RTSP headers Transport, Session and RTP-Info (RFC 2326 12.39, 12.37, 12.33).

/** RTP over the RTSP connection itself: channels for RTP and RTCP. */
export type InterleavedTransport = {
  readonly rtpChannel: number
  readonly rtcpChannel: number
  /** The sender's RTP source, when it says so. */
  readonly ssrc: number | undefined
}

/** The first transport of the header that is interleaved, or undefined when there is none. */
export function parseInterleavedTransport(value: string): InterleavedTransport | undefined {
  for (const transport of value.split(',')) {
    const [protocol = '', ...parameters] = transport.split(';').map((part) => part.trim())
    if (!/^RTP\/AVP\/TCP$/i.test(protocol)) continue
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

export function writeInterleavedTransport({ rtpChannel, rtcpChannel, ssrc }: InterleavedTransport): string {
  const source = ssrc === undefined ? '' : `;ssrc=${ssrc.toString(16).toUpperCase().padStart(8, '0')}`
  return `RTP/AVP/TCP;unicast;interleaved=${rtpChannel}-${rtcpChannel}${source}`
}

/** The session's id and how long the server keeps it without a sign of life; 60 s unless it says otherwise. */
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

/** Where a stream begins: the RTP sequence number and timestamp of its first packet. */
export type RtpInfo = {
  readonly url: string
  readonly sequence: number | undefined
  readonly rtpTime: number | undefined
}

export function parseRtpInfo(value: string): RtpInfo[] {
  // A URL may hold commas and semicolons; a new entry is known by its "url=".
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
