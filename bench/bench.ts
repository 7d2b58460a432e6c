// What a bench is, and how its options are read from the command line.

import { parseArgs } from 'node:util'
import type { Report } from './report.ts'

export type BenchOptions = {
  readonly seconds: number
  readonly cameras: number
  readonly kills: number
  readonly isJson: boolean
}

export type Bench = {
  readonly name: string
  readonly summary: string
  readonly help: string
  /** Also tells which options there are: one without a default is refused. */
  readonly defaults: { readonly seconds?: number; readonly cameras?: number; readonly kills?: number }
  /** `say` tells a person who waits what is going on. Throws when it could not measure. */
  run(options: BenchOptions & { readonly say: (text: string) => void }): Promise<Report>
}

/** Something is wrong with what was typed. */
export class UsageError extends Error {}

/** Undefined when help is asked for. Throws UsageError. */
export function readBenchOptions(bench: Bench, args: readonly string[]): BenchOptions | undefined {
  const { defaults } = bench
  const values = parse(bench, args)
  if (values.help) return undefined
  return {
    seconds: readCount('seconds', values.seconds, 3600) ?? defaults.seconds ?? 0,
    cameras: readCount('cameras', values.cameras, 1000) ?? defaults.cameras ?? 0,
    kills: readCount('kills', values.kills, 10_000) ?? defaults.kills ?? 0,
    isJson: values.json === true,
  }
}

function parse({ name, defaults }: Bench, args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seconds: { type: 'string' },
        cameras: { type: 'string' },
        kills: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    for (const name of ['seconds', 'cameras', 'kills'] as const) {
      if (values[name] !== undefined && defaults[name] === undefined) throw new Error(`Unknown option '--${name}'`)
    }
    return values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}. More: npm run bench -- ${name} --help`)
  }
}

function readCount(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > max) {
    throw new UsageError(`--${option}: expected a whole number from 1 to ${max}, got "${text}"`)
  }
  return count
}
