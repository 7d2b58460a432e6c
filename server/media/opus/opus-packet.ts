// The duration of an Opus packet (RFC 6716 3.1 and 3.2), and what a file says of an Opus track ("Encapsulation of Opus in ISO Base
// Media File Format" 4.3.2). Opus always counts in 48 kHz.

export const opusSampleRate = 48_000

const maxPacketMs = 120

/** Samples at 48 kHz; 0 for what is no Opus packet. */
export function opusPacketSamples(packet: Uint8Array): number {
  const toc = packet[0]
  if (toc === undefined) return 0
  const count = [1, 2, 2, (packet[1] ?? 0) & 0x3f][toc & 3]!
  const ms = count * frameMs(toc >> 3)
  return ms <= maxPacketMs ? ms * (opusSampleRate / 1000) : 0
}

/** Table 2: SILK, hybrid and CELT modes. */
function frameMs(config: number): number {
  if (config < 12) return [10, 20, 40, 60][config & 3]!
  if (config < 16) return [10, 20][config & 1]!
  return [2.5, 5, 10, 20][config & 3]!
}

/** The content of the `dOps` box. Nothing is to be skipped at the start: a live stream is entered in the middle. */
export function writeOpusConfig(channels: number): Uint8Array {
  const config = new Uint8Array(11)
  config[1] = channels
  new DataView(config.buffer).setUint32(4, opusSampleRate)
  return config
}
