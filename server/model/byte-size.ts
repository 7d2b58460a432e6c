// Sizes as people write them: bytes, or a number with a decimal (MB) or binary (MiB) unit.

import { AppError } from '../base/error.ts'

const units: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  PB: 1e15,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
}

/** "1.5GB" -> 1,500,000,000; rounded to whole bytes. Throws 'invalid'. */
export function parseByteSize(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,16}(?:\.\d{1,6})?)\s*([A-Za-z]{0,3})$/.exec(text.trim()) ?? []
  const factor = Object.hasOwn(units, unit) ? units[unit]! : undefined
  const bytes = Math.round(Number(digits) * (factor ?? 0))
  if (digits === '' || factor === undefined || !Number.isSafeInteger(bytes)) {
    throw new AppError('invalid', `"${text.slice(0, 40)}" is not a size such as 500GB, 1.5TiB or a number of bytes.`)
  }
  return bytes
}

/** For display: three digits and a decimal unit. */
export function writeByteSize(bytes: number): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  let value = Math.abs(bytes)
  let index = 0
  for (; value >= 999.5 && index < names.length - 1; index++) value /= 1000
  const digits = index === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${bytes < 0 ? '-' : ''}${value.toFixed(digits)} ${names[index]}`
}
