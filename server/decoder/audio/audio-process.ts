// The audio process: reads requests from standard input, writes replies to standard output and ends with its input. It
// serves all cameras of one media worker and may be killed at any time. For each camera it has only the state of a
// decoder and an encoder.

import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { MessageReader } from '../message-stream.ts'
import { AudioEncoder } from './audio-encoder.ts'
import { type AudioRequest, parseAudioRequest, writeAudioReply } from './audio-protocol.ts'

Log.setLevel(AV_LOG_QUIET)

const encoders = new Map<number, AudioEncoder>()
const reader = new MessageReader()

process.stdin.on('data', (chunk) => {
  process.stdout.cork()
  for (const message of reader.push(chunk)) serve(parseAudioRequest(message))
  process.stdout.uncork()
})
process.stdin.on('end', () => process.exit(0))
// Ctrl-C reaches the whole process group. The server closes the input when it is done.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

function serve(request: AudioRequest): void {
  const { streamId } = request
  if (request.type === 'chunk') {
    const block = encode(streamId, request.number, request.data)
    const reply = { streamId, number: block?.number, data: block?.data ?? new Uint8Array() }
    for (const part of writeAudioReply(reply)) process.stdout.write(part)
    return
  }
  encoders.get(streamId)?.[Symbol.dispose]()
  encoders.delete(streamId)
  if (request.type === 'open') encoders.set(streamId, new AudioEncoder(request.coding, request.sampleRate))
}

function encode(streamId: number, number: number, data: Uint8Array) {
  try {
    return encoders.get(streamId)?.encode(number, data)
  } catch {
    return undefined // this chunk is missing; the next one may be valid
  }
}
