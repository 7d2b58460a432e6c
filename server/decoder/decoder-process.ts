// The decoder process: reads requests from standard input, writes replies to standard output and ends with its input.
// It is started by message-child.ts, may be killed at any time and has no state.

import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { errorChain } from '../base/error.ts'
import { type DecodeReply, parseRequest, writeReply } from './decoder-protocol.ts'
import { ImageDecoder } from './image-decoder.ts'
import { MessageReader } from './message-stream.ts'

Log.setLevel(AV_LOG_QUIET)

const decoder = new ImageDecoder()
const reader = new MessageReader()

process.stdin.on('data', (chunk) => {
  for (const message of reader.push(chunk)) {
    process.stdout.cork()
    for (const part of writeReply(answer(message))) process.stdout.write(part)
    process.stdout.uncork()
  }
})
process.stdin.on('end', () => process.exit(0))
// Ctrl-C reaches the whole process group. The server still needs images while it shuts down, then closes the input.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

function answer(message: Uint8Array): DecodeReply {
  const before = process.cpuUsage()
  const findCpuMs = () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  try {
    const jpegs = decoder.decode(parseRequest(message))
    return { cpuMs: findCpuMs(), jpegs }
  } catch (error) {
    return { cpuMs: findCpuMs(), error: errorChain(error) }
  }
}
