// Generates HTTP/2 connections whose frames violate the rules, or are valid but come in thousands. RFC 9113, RFC 7541.

import { mutate } from '../fuzz/mutate.ts'
import type { Attack, Dice } from './attack.ts'
import type { GrammarOptions } from './http1-attacks.ts'
import {
  type Field,
  flags,
  frameTypes,
  preface,
  write32,
  writeFields,
  writeFrame,
  writeInteger,
  writeRequest,
  writeSettings,
} from './http2-frames.ts'
import { authorizationOf, methods, oddMethods, pickAttacker, pickBody, pickHeader, pickPath } from './odd-values.ts'

/** Input of a part of an attack. `fields` are those of a valid request by the attacker. */
type Making = { readonly dice: Dice; readonly fields: (path?: string) => Field[] } & GrammarOptions

const { data, headers, priority, reset, settings, push, ping, goaway, windowUpdate, continuation } = frameTypes

export function createHttp2Attack(dice: Dice, options: GrammarOptions): Attack {
  const attacker = pickAttacker(dice, options.household)
  const credentials = attacker && authorizationOf(attacker, dice)
  const fields = (path = pickPath(dice, options.household)): Field[] => [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', options.host],
    [':path', path],
    ...(credentials === undefined ? [] : ([['authorization', credentials]] as Field[])),
  ]
  const [what, write] = dice.pick(Object.entries(parts))
  const making = { ...options, dice, fields }
  const start = dice.isOneIn(30)
    ? dice.pick(oddStarts)()
    : Buffer.concat([preface, writeSettings([noTable, ...pickSettings(dice)])])
  let bytes = Buffer.concat([start, ...write(making)])
  if (dice.isOneIn(6)) {
    const changed = mutate(bytes.subarray(start.length), [Buffer.concat(write(making))], [], dice.random)
    bytes = Buffer.concat([start, changed])
  }
  return {
    kind: 'http2',
    what,
    protocol: 'h2',
    writes: dice.split(bytes, 5),
    callers: attacker ? [attacker.name] : [],
    ending: dice.pick(['listen', 'listen', 'listen', 'read', 'vanish']),
  }
}

const oddStarts = [
  () => Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n'),
  () => preface,
  () => preface.subarray(0, 10),
  () => Buffer.concat([preface, preface]),
  () => Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  () => Buffer.concat([preface, writeFrame(settings, flags.ack, 0, Buffer.alloc(6))]),
]

/** Without a dynamic table, the fields of responses are easier to read. */
const noTable = [1, 0] as const

function pickSettings(dice: Dice): [number, number][] {
  if (!dice.isOneIn(3)) return []
  return Array.from({ length: dice.below(5) }, () => [
    dice.pick([1, 2, 3, 4, 5, 6, 8, 9, 0, 0xffff]),
    dice.pick([0, 1, 100, 16384, 65535, 0x7fffffff, 0x80000000, 0xffffffff]),
  ])
}

const repeat = (count: number, write: (i: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, i) => write(i))

const parts: { readonly [what: string]: (making: Making) => Buffer[] } = {
  'requests with odd fields': ({ dice, fields, host }) =>
    repeat(1 + dice.below(10), (i) => writeRequest(1 + 2 * i, changeFields(dice, fields(), host))),
  'requests with bodies': ({ dice, fields }) =>
    repeat(1 + dice.below(5), (i) => {
      const body = Buffer.from(pickBody(dice), 'latin1')
      const length = dice.pick([body.length, body.length, body.length + 1, 0, -1, 'x'])
      const rest = fields().filter(([name]) => name !== ':method')
      const method = dice.pick(dice.isOneIn(5) ? oddMethods : methods)
      const all: Field[] = [
        [':method', method],
        ...rest,
        ['content-type', 'application/json'],
        ['content-length', `${length}`],
      ]
      return writeRequest(1 + 2 * i, all, body)
    }),
  'stream numbers in any order': ({ dice, fields }) =>
    repeat(2 + dice.below(10), () =>
      writeRequest(dice.pick([0, 1, 2, 3, 5, 7, 101, 0x7fffffff, 0x80000001]), fields()),
    ),
  'frames where they do not belong': ({ dice }) =>
    repeat(1 + dice.below(10), () => {
      const type = dice.pick([
        data,
        headers,
        priority,
        reset,
        settings,
        push,
        ping,
        goaway,
        windowUpdate,
        continuation,
        10,
        99,
        255,
      ])
      return writeFrame(
        type,
        dice.below(256),
        dice.pick([0, 1, 2, 3, 0x7fffffff]),
        dice.bytes(dice.pick([0, 4, 5, 6, 8, 100])),
      )
    }),
  'frames of wrong length': ({ dice, fields }) => [
    writeRequest(1, fields()),
    dice.pick([
      writeFrame(settings, 0, 0, dice.bytes(5)),
      writeFrame(ping, 0, 0, dice.bytes(7)),
      writeFrame(reset, 0, 1, dice.bytes(3)),
      writeFrame(windowUpdate, 0, 0, dice.bytes(3)),
      writeFrame(priority, 0, 3, dice.bytes(4)),
      writeFrame(goaway, 0, 0, dice.bytes(6)),
      writeFrame(data, 0, 1, dice.bytes(100), 0xffffff),
      writeFrame(headers, flags.endHeaders, 3, Buffer.alloc(20_000)),
      writeFrame(data, flags.padded, 1, Buffer.from([255, 1, 2])),
      writeFrame(headers, flags.padded | flags.endHeaders, 3, Buffer.from([200, 1, 2])),
      writeFrame(headers, flags.priority | flags.endHeaders, 3, Buffer.from([0, 0])),
    ]),
  ],
  'a flood of continuations': ({ dice, fields }) => [
    writeFrame(headers, flags.endStream, 1, writeFields(fields())),
    ...repeat(dice.pick([1, 20, 300]), (i) =>
      writeFrame(
        continuation,
        0,
        1,
        dice.pick([Buffer.alloc(0), writeFields([[`x${i}`, 'y'.repeat(dice.below(4000))]])]),
      ),
    ),
    ...(dice.isOneIn(2) ? [writeFrame(continuation, flags.endHeaders, 1, Buffer.alloc(0))] : []),
  ],
  'something between continuations': ({ dice, fields }) => [
    writeFrame(headers, flags.endStream, 1, writeFields(fields())),
    dice.pick([
      writeFrame(ping, 0, 0, Buffer.alloc(8)),
      writeRequest(3, fields()),
      writeFrame(99, 0, 1, Buffer.alloc(3)),
    ]),
    writeFrame(continuation, flags.endHeaders, dice.pick([1, 3, 0]), Buffer.alloc(0)),
  ],
  'requests taken back at once': ({ dice, fields }) =>
    repeat(dice.pick([3, 100, 600]), (i) =>
      Buffer.concat([
        writeRequest(1 + 2 * i, fields()),
        writeFrame(reset, 0, 1 + 2 * i, write32(dice.pick([0, 8, 0xffffffff]))),
      ]),
    ),
  'a flood of pings': ({ dice }) =>
    repeat(dice.pick([10, 3000]), () => writeFrame(ping, dice.pick([0, 0, 1]), 0, dice.bytes(8))),
  'a flood of settings': ({ dice }) =>
    repeat(dice.pick([5, 2000]), (i) => writeSettings([[dice.pick([1, 3, 4, 5]), dice.pick([0, i, 16384, 65535])]])),
  'a flood of empty data': ({ dice, fields }) => [
    writeFrame(headers, flags.endHeaders, 1, writeFields(fields())),
    ...repeat(dice.pick([10, 3000]), () => writeFrame(data, dice.pick([0, 0, flags.padded]), 1, Buffer.from([0]))),
  ],
  'priorities in circles': ({ dice }) =>
    repeat(dice.pick([5, 2000]), (i) =>
      writeFrame(priority, 0, 1 + 2 * (i % 50), Buffer.concat([write32(1 + 2 * dice.below(50)), dice.bytes(1)])),
    ),
  'windows out of range': ({ dice, fields }) => [
    writeRequest(1, fields('/docs/')),
    ...repeat(dice.pick([1, 50]), () =>
      writeFrame(windowUpdate, 0, dice.pick([0, 1]), write32(dice.pick([0, 1, 0x7fffffff, 0xffffffff]))),
    ),
  ],
  'answers that are not taken': ({ dice, fields }) => [
    writeSettings([[4, dice.pick([0, 1])]]),
    ...repeat(dice.pick([5, 250]), (i) =>
      writeRequest(1 + 2 * i, fields(dice.pick(['/docs/', '/openapi.json', undefined]))),
    ),
  ],
  'rubbish for the table of fields': ({ dice }) =>
    repeat(1 + dice.below(4), (i) => {
      const blocks = [dice.bytes(200), Buffer.from([0x80]), writeInteger(9999, 7, 0x80), writeInteger(2 ** 40, 7, 0x80)]
      const more = [
        writeInteger(2 ** 30, 5, 0x20),
        Buffer.from([0, 0x81, 0xff, 0x81, 0xff]),
        Buffer.from([0x40, 0x85, 0xff, 0xff, 0xff, 0xff, 0xff]),
      ]
      return writeFrame(headers, flags.endHeaders | flags.endStream, 1 + 2 * i, dice.pick([...blocks, ...more]))
    }),
  'one large field, named a thousand times': ({ dice, fields }) => [
    writeFrame(
      headers,
      flags.endHeaders,
      1,
      Buffer.concat([writeFields(fields()), writeFields([['x', 'y'.repeat(3900)]], true)]),
    ),
    ...repeat(dice.pick([1, 20]), (i) =>
      writeFrame(
        headers,
        flags.endHeaders | flags.endStream,
        3 + 2 * i,
        Buffer.concat([writeFields(fields()), Buffer.alloc(dice.pick([10, 2000]), 0xbe)]),
      ),
    ),
  ],
  'a goodbye, and then requests': ({ fields }) => [
    writeFrame(goaway, 0, 0, Buffer.concat([write32(0), write32(0)])),
    writeRequest(1, fields()),
    writeRequest(3, fields()),
  ],
  'a second head, data after the end': ({ dice, fields }) => [
    writeRequest(1, fields()),
    dice.pick([
      writeRequest(1, fields()),
      writeFrame(data, 0, 1, dice.bytes(10)),
      writeFrame(headers, flags.endHeaders, 1, writeFields([['trailer', 'x']])),
      writeFrame(push, flags.endHeaders, 1, Buffer.concat([write32(2), writeFields(fields())])),
    ]),
  ],
}

function changeFields(dice: Dice, fields: Field[], host: string): Field[] {
  const [first, ...rest] = fields
  switch (dice.below(14)) {
    case 0:
      return [...rest, first!]
    case 1:
      return rest
    case 2:
      return [first!, ...fields]
    case 3:
      return [['Accept', 'x'], ...fields]
    case 4:
      return [
        ...fields,
        dice.pick<Field>([
          ['connection', 'keep-alive'],
          ['transfer-encoding', 'chunked'],
          ['upgrade', 'h2c'],
          ['te', 'gzip'],
        ]),
      ]
    case 5:
      return [...fields, [':status', '200']]
    case 6:
      return fields.map(([name, value]) => [
        name,
        name === ':authority' ? dice.pick(['evil.example', '', 'user@localhost', `${host}, evil`]) : value,
      ])
    case 7:
      return fields.map(([name, value]) => [
        name,
        name === ':path'
          ? dice.pick(['', 'x', '*', 'https://evil.example/', '/\u0000', '/ x', `/${'p'.repeat(14_000)}`])
          : value,
      ])
    case 8:
      return fields.map(([name, value]) => [
        name,
        name === ':scheme' ? dice.pick(['http', 'ftp', '', 'https\u0000']) : value,
      ])
    case 9:
      return fields.map(([name, value]) => [
        name,
        name === ':method' ? dice.pick([...oddMethods, 'CONNECT', '']) : value,
      ])
    case 10:
      return [...fields, ['host', 'evil.example'], ['cookie', 'a=b'], ['cookie', '__Host-session=x'], ['cookie', '']]
    case 11:
      return [...fields, ['x', 'y\r\nz: w'], ['n\u0000', 'v'], ['', 'no name']].slice(
        0,
        fields.length + 1 + dice.below(3),
      ) as Field[]
    case 12:
      return [...fields, [':protocol', 'websocket'], [':unknown', 'x']]
    default:
      return [...fields, ...repeatHeaders(dice)]
  }
}

const repeatHeaders = (dice: Dice): Field[] =>
  Array.from({ length: 1 + dice.below(8) }, () => pickHeader(dice) as Field)
