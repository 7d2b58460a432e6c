// Options that are sizes: bytes, or a number with a unit.

import { parseByteSize, writeByteSize } from '../model/byte-size.ts'
import type { Option } from './option.ts'

export function sizeOption<T extends number | undefined>(common: {
  readonly description: string
  readonly defaultText: string
  readonly minBytes: number
  readonly createDefault: () => T
}): Option<T> {
  const { minBytes, ...rest } = common
  const limits = `bytes, or a number with a unit as 500GB or 1.5TiB${minBytes > 0 ? `; at least ${writeByteSize(minBytes)}` : ''}`
  return {
    ...rest,
    placeholder: 'SIZE',
    limits,
    isSwitch: false,
    parse(text) {
      const bytes = parse(text)
      if (bytes === undefined || bytes < minBytes) throw new Error(`expected ${limits}`)
      return bytes as T
    },
  }
}

function parse(text: string): number | undefined {
  try {
    return parseByteSize(text)
  } catch {
    return undefined
  }
}
