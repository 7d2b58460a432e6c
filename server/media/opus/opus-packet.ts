// The duration of an Opus packet (RFC 6716 3.1 and 3.2), and the configuration of an Opus track in a file
// ("Encapsulation of Opus in ISO Base Media File Format" 4.3.2). Opus always counts in 48 kHz.

export const opusSampleRate = 48_000

const maxPacketMs = 120

/** Returns the number of samples at 48 kHz; 0 when the bytes are not an Opus packet. */
export function opusPacketSamples(packet: Uint8Array): number {
  const toc = packet[0]
  if (toc === undefined) return 0
  const count = [1, 2, 2, (packet[1] ?? 0) & 0x3f][toc & 3]!
  const ms = count * frameMs(toc >> 3)
  return ms <= maxPacketMs ? ms * (opusSampleRate / 1000) : 0
}

/** Frame durations of the SILK, hybrid and CELT modes (table 2). */
function frameMs(config: number): number {
  if (config < 12) return [10, 20, 40, 60][config & 3]!
  if (config < 16) return [10, 20][config & 1]!
  return [2.5, 5, 10, 20][config & 3]!
}

/** Returns the content of the `dOps` box. The pre-skip is 0, because playback of a live stream starts in the middle. */
export function writeOpusConfig(channels: number): Uint8Array {
  const config = new Uint8Array(11)
  config[1] = channels
  new DataView(config.buffer).setUint32(4, opusSampleRate)
  return config
}
