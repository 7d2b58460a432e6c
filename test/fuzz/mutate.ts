// Changes inputs as accidents and attackers do: bits, bytes, lengths, numbers, parts lost, doubled, moved, taken from another.

export const maxInputBytes = 64 * 1024

const edges = [0, 1, 0x0a, 0x0d, 0x20, 0x22, 0x24, 0x2c, 0x3b, 0x3d, 0x7f, 0x80, 0xfe, 0xff]
const numbers = [
  '0',
  '-1',
  '1e9',
  '65535',
  '65536',
  '4294967295',
  '9007199254740993',
  '99999999999999999999',
  '0x10',
  '',
]

/** One to six changes. `others` are inputs of the same format; `random` is uniform in [0, 1). */
export function mutate(
  input: Uint8Array,
  others: readonly Uint8Array[],
  words: readonly string[],
  random: () => number,
): Uint8Array {
  let bytes: Buffer = Buffer.from(input)
  const changes = 1 + Math.floor(random() * 6)
  for (let i = 0; i < changes; i++) bytes = change(bytes, others, words, random)
  return new Uint8Array(bytes.subarray(0, maxInputBytes))
}

function change(bytes: Buffer, others: readonly Uint8Array[], words: readonly string[], random: () => number): Buffer {
  const below = (count: number) => Math.floor(random() * count)
  const at = below(bytes.length + 1)
  const length = 1 + below(random() < 0.8 ? 8 : Math.max(1, bytes.length))
  const replace = (from: number, to: number, ...middle: (Uint8Array | string)[]) =>
    Buffer.concat([bytes.subarray(0, from), ...middle.map((each) => Buffer.from(each)), bytes.subarray(to)])
  switch (below(11)) {
    case 0:
      if (at < bytes.length) bytes[at]! ^= 1 << below(8)
      return bytes
    case 1:
      if (at < bytes.length) bytes[at] = edges[below(edges.length)]!
      return bytes
    case 2:
      return replace(
        at,
        at,
        Uint8Array.from({ length }, () => below(256)),
      )
    case 3:
      return replace(at, at + length)
    case 4:
      return replace(at, at, bytes.subarray(at, at + length))
    case 5:
      return bytes.subarray(0, at)
    case 6: {
      const other = others[below(others.length)] ?? bytes
      const from = below(other.length + 1)
      return replace(at, random() < 0.5 ? at : at + length, other.subarray(from, from + 1 + below(other.length)))
    }
    case 7: {
      const word = words[below(words.length)]
      return word === undefined ? bytes : replace(at, random() < 0.5 ? at : at + word.length, word)
    }
    case 8: {
      // The same over and over: what is quadratic shows here.
      const part = bytes.subarray(at, at + 1 + below(12))
      const times = random() < 0.9 ? 2 + below(50) : Math.floor(maxInputBytes / Math.max(1, part.length))
      return replace(at, at, Buffer.concat(Array.from({ length: times }, () => part)))
    }
    case 9: {
      // A number in text, or two bytes that may be a length.
      const digits = [...bytes.toString('latin1').matchAll(/\d+/g)]
      const match = digits[below(digits.length)]
      if (match && random() < 0.7) {
        return replace(match.index, match.index + match[0].length, numbers[below(numbers.length)]!)
      }
      if (at + 1 < bytes.length) bytes.writeUInt16BE(below(3) === 0 ? 0xffff : below(0x800), at)
      return bytes
    }
    default: {
      const moved = bytes.subarray(at, at + length)
      const rest = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
      const to = below(rest.length + 1)
      return Buffer.concat([rest.subarray(0, to), moved, rest.subarray(to)])
    }
  }
}
