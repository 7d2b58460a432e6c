// A name server on this machine (RFC 1035, over UDP) that answers as a test says: at once, late, or never.

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export type DnsQuestion = { readonly name: string; readonly type: 'A' | 'AAAA' | 'other' }

/** Addresses of that type; 'unknown': there is no such name; 'failed': the server cannot say; 'silent': no answer ever. */
export type DnsAnswer = readonly string[] | 'unknown' | 'failed' | 'silent'

export type DnsServer = AsyncDisposable & {
  /** As `dns.setServers` and the option `name-servers` take it. */
  readonly address: string
  /** What was asked so far, names in lower case. */
  readonly questions: readonly DnsQuestion[]
}

type AnswerTo = (question: DnsQuestion) => DnsAnswer | Promise<DnsAnswer>

const types: ReadonlyMap<number, DnsQuestion['type']> = new Map([[1, 'A'], [28, 'AAAA']]) // biome-ignore format: one line

export async function openDnsServer(answerTo: AnswerTo, { host = '127.0.0.1', port = 0 } = {}): Promise<DnsServer> {
  const questions: DnsQuestion[] = []
  const socket = createSocket('udp4')
  let isClosed = false
  const take = async (query: Buffer, from: RemoteInfo) => {
    const { question, end } = readQuestion(query)
    questions.push(question)
    const answer = await answerTo(question)
    if (answer === 'silent' || isClosed) return
    // Whoever asked may have gone meanwhile.
    socket.send(writeAnswer(query.subarray(0, end), answer), from.port, from.address, () => {})
  }
  socket.on('message', (query, from) => void take(query, from))
  socket.bind(port, host)
  await once(socket, 'listening')
  return {
    address: `${host}:${(socket.address() as AddressInfo).port}`,
    questions,
    async [Symbol.asyncDispose]() {
      isClosed = true
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** `end`: where the first question ends, which is all that is read. */
function readQuestion(query: Buffer): { question: DnsQuestion; end: number } {
  const labels: string[] = []
  let at = 12
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  const type = types.get(query.readUInt16BE(at + 1)) ?? 'other'
  return { question: { name: labels.join('.').toLowerCase(), type }, end: at + 5 }
}

const codes = { failed: 2, unknown: 3 }

function writeAnswer(asked: Buffer, answer: Exclude<DnsAnswer, 'silent'>): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer
  const head = Buffer.from(asked)
  // A response to a recursive query, with recursion.
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? codes[answer] : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  return Buffer.concat([head, ...addresses.map(writeRecord)])
}

function writeRecord(address: string): Buffer {
  const isV6 = address.includes(':')
  const bytes = isV6 ? toBytes(address) : address.split('.').map(Number)
  // The name is that of the question; a time to live of none.
  return Buffer.from([0xc0, 12, 0, isV6 ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
}

function toBytes(address: string): number[] {
  const [before = '', after] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groups(before), groups(after ?? '')]
  const zeros = after === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => 0)
  return [...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 255])
}
