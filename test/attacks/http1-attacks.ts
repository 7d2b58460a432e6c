// Generates HTTP/1.1 requests in which any part may be invalid: request line, target, headers, framing, body and what
// follows. RFC 9112.

import { mutate } from '../fuzz/mutate.ts'
import type { Attack, Dice } from './attack.ts'
import type { MarkedHousehold } from './marked-household.ts'
import { authorizationOf, methods, oddMethods, pickAttacker, pickBody, pickHeader, pickPath } from './odd-values.ts'

export type GrammarOptions = {
  readonly household: MarkedHousehold
  /** Host of the server, `localhost:PORT`. */
  readonly host: string
}

export function createHttp1Attack(dice: Dice, options: GrammarOptions): Attack {
  const attacker = pickAttacker(dice, options.household)
  const credentials = attacker && authorizationOf(attacker, dice)
  const form = dice.below(10)
  let text = ''
  let what = 'a request'
  if (form < 6) text = writeRequest(dice, options, credentials)
  else if (form < 8) {
    what = 'requests in a row'
    for (let i = 1 + dice.below(40); i > 0; i--) text += writeRequest(dice, options, credentials, i > 1)
  } else if (form === 8) {
    what = 'half a request'
    text = writeRequest(dice, options, credentials)
    text = text.slice(0, dice.below(text.length))
  } else {
    what = 'a request with changed bytes'
    text = writeRequest(dice, options, credentials)
  }
  let bytes: Uint8Array = Buffer.from(text, 'latin1')
  if (form === 9) {
    const other = Buffer.from(writeRequest(dice, options, credentials), 'latin1')
    bytes = mutate(
      bytes,
      [other],
      ['\r\n', '\n', ':', ' ', '\t', 'chunked', 'Content-Length: 5\r\n', '0\r\n\r\n'],
      dice.random,
    )
  }
  return {
    kind: 'http1',
    what,
    protocol: 'http/1.1',
    writes: dice.split(Buffer.from(bytes), 4),
    callers: attacker ? [attacker.name] : [],
    ending: dice.pick(['read', 'read', 'read', 'read', 'read', 'read', 'listen', 'vanish']),
  }
}

const versions = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'http/1.1',
  'HTTP/1.1x',
  'HTTP/',
  'HTTP/1.1 HTTP/1.1',
  '',
]
const ends = ['\n', '\r', '\r\r\n', '\n\r', '']

function writeRequest(dice: Dice, { household, host }: GrammarOptions, credentials?: string, isPlain = false): string {
  const odd = isPlain ? 40 : 8
  const end = dice.isOneIn(odd * 3) ? dice.pick(ends) : '\r\n'
  const method = dice.isOneIn(odd) ? dice.pick(oddMethods) : dice.pick(methods)
  const target = writeTarget(dice, pickPath(dice, household), host, odd)
  const version = dice.isOneIn(odd * 2) ? dice.pick(versions) : 'HTTP/1.1'
  const space = dice.isOneIn(odd * 4) ? dice.pick(['  ', '\t', '\u00a0', '']) : ' '
  const lines = [`${method}${space}${target}${space}${version}`]
  lines.push(...(dice.isOneIn(odd) ? pickHosts(dice, host) : [`Host: ${host}`]))
  if (credentials !== undefined) lines.push(...writeCredentials(dice, credentials, odd))
  if (isPlain || dice.isOneIn(3)) lines.push('Connection: keep-alive')
  for (let i = dice.below(4); i > 0; i--) lines.push(pickHeader(dice).join(': '))
  if (dice.isOneIn(odd)) lines.push(dice.pick(oddLines))
  const isReading = ['GET', 'HEAD', 'OPTIONS'].includes(method)
  const { framing, body } = isReading && !dice.isOneIn(odd) ? { framing: [], body: '' } : writeFramedBody(dice)
  const shuffled = [...lines.slice(1), ...framing].sort(() => dice.random() - 0.5)
  return `${lines[0]}${end}${shuffled.map((line) => line + end).join('')}${end}${body}`
}

function writeTarget(dice: Dice, path: string, host: string, odd: number): string {
  if (!dice.isOneIn(odd)) return path
  return dice.pick([
    `https://${host}${path}`,
    `http://${host}${path}`,
    `https://evil.example${path}`,
    `https://user:secret@${host}${path}`,
    `https://${host}:99999${path}`,
    `ftp://${host}${path}`,
    `https://[::1]${path}`,
    `https:${path}`,
    `HTTPS://LOCALHOST${path}`,
    `${host}`,
    `${path}\u0000`,
    `${path} x`,
    `${path}\u00e9\u00ff`,
    `${path}?${'x'.repeat(20_000)}`,
  ])
}

const pickHosts = (dice: Dice, host: string): string[] =>
  dice.pick<string[]>([
    [],
    ['Host: evil.example'],
    [`Host: ${host}`, `Host: ${host}`],
    [`Host: ${host}`, 'Host: evil.example'],
    [`Host: ${host}, evil.example`],
    ['Host:'],
    ['Host: localhost:0x1'],
    ['Host: localhost@evil.example'],
    [`Host : ${host}`],
    [`host\t: ${host}`],
    [`Host: ${host}\r\n evil.example`],
    [`Host: ${'a'.repeat(3000)}`],
    ['Host: [::1', 'X: y'],
  ])

function writeCredentials(dice: Dice, credentials: string, odd: number): string[] {
  if (!dice.isOneIn(odd)) return [`Authorization: ${credentials}`]
  return dice.pick([
    [`Authorization: ${credentials}`, `Authorization: ${credentials}`],
    [`Authorization: ${credentials}`, 'Authorization: Basic eDp5'],
    [`Authorization:\r\n ${credentials}`],
    [`Authorization: ${credentials.replace(' ', '\r\n\t')}`],
    [`Authorization: ${credentials.toLowerCase()}`],
    [`Authorization: ${credentials},`],
    [`Authorization : ${credentials}`],
    [`Proxy-Authorization: ${credentials}`],
  ])
}

const oddLines = [
  ' folded: from nothing',
  'No colon',
  ': no name',
  'Na me: x',
  'N\u0000me: x',
  'Name: x\u0000y',
  'Name: \u007f\u0001',
  'Connection: close, keep-alive, upgrade',
  'Connection: authorization, host',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13',
  'Expect: 100-continue',
  'Expect: 100-continue, x',
  'Trailer: Content-Length, Authorization',
  Array.from({ length: 2500 }, (_, i) => `h${i}: x`).join('\r\n'),
  `X: ${'x'.repeat(17_000)}`,
]

function writeFramedBody(dice: Dice): { framing: string[]; body: string } {
  const body = pickBody(dice)
  const length = Buffer.byteLength(body, 'latin1')
  const types = [
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data; boundary=x',
  ]
  const type = `Content-Type: ${dice.pick(types)}`
  switch (dice.below(8)) {
    case 0:
    case 1:
    case 2:
      return { framing: [type, `Content-Length: ${length}`], body }
    case 3: {
      const lengths = [
        length + 5,
        Math.max(0, length - 3),
        -1,
        `+${length}`,
        `0x${length.toString(16)}`,
        `${length}, ${length}`,
      ]
      const more = [
        `${length}, 5`,
        99999999999999999999n,
        1e15,
        '',
        ' ',
        '1 2',
        '5\u000b',
        'NaN',
        '00000000000000000005',
      ]
      return { framing: [type, `Content-Length: ${dice.pick<unknown>([...lengths, ...more])}`], body }
    }
    case 4:
      return {
        framing: [type, `Content-Length: ${length}`, `Content-Length: ${dice.pick([length, length + 1, 0])}`],
        body,
      }
    case 5: {
      const codings = [
        'chunked, chunked',
        'gzip, chunked',
        'chunked, identity',
        'xchunked',
        'identity',
        'chunked\u000b',
        '',
        '"chunked"',
      ]
      return { framing: [type, `Transfer-Encoding: ${dice.pick(codings)}`], body: writeChunks(dice, body) }
    }
    case 6: {
      const both = ['Transfer-Encoding: chunked', `Content-Length: ${dice.pick([length, 0, 4])}`]
      return { framing: [type, ...(dice.isOneIn(2) ? both : both.reverse())], body: writeChunks(dice, body) }
    }
    default:
      return { framing: [type, 'Transfer-Encoding: chunked'], body: writeChunks(dice, body) }
  }
}

function writeChunks(dice: Dice, body: string): string {
  const size = dice.pick([1, 7, 1000, 100_000])
  let text = ''
  // Only short requests are sent byte by byte.
  for (let at = 0; at < body.length; at += Math.max(size, body.length >> 9)) {
    const chunk = body.slice(at, at + Math.max(size, body.length >> 9))
    const extension = dice.isOneIn(6)
      ? dice.pick([';x', ';x=y', ';x="\\""', ` ;${'e'.repeat(5000)}`, ';\u0000', ';x\n'])
      : ''
    text += `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`
  }
  const odd = ['ffffffffffffffff', '-1', '0x5', 'g', '', ' 5', '5 ', '100000000', '00000000000000000000000005']
  if (dice.isOneIn(4)) return `${text}${dice.pick(odd)}\r\nhello\r\n0\r\n\r\n`
  const trailers = [
    '',
    '',
    '',
    'Content-Length: 5\r\n',
    'Authorization: Basic eDp5\r\n',
    `X: ${'x'.repeat(17_000)}\r\n`,
    'bad\r\n',
  ]
  const ends = ['\r\n', '\r\n', '\r\n', '\n', '', 'GET /v1/me/ HTTP/1.1\r\n\r\n']
  return `${text}0\r\n${dice.pick(trailers)}${dice.pick(ends)}`
}
