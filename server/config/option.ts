// One option of the configuration: how its text is parsed, and how it is documented.

import { resolve } from 'node:path'

/** What default values may depend on. */
export type Surroundings = {
  /** The folder of the program. */
  readonly programDir: string
  readonly hostName: string
  readonly cores: number
  /** The data folder, once it is known. */
  readonly dataDir: string
}

export type Option<T> = {
  /** Placeholder of the value in the reference, for example `FOLDER`. */
  readonly placeholder: string
  /** What the option does, in one or two sentences. */
  readonly description: string
  /** The default as the reference states it. */
  readonly defaultText: string
  /** Limits and unit as the reference states them. Empty if any text is accepted. */
  readonly limits: string
  /** The flag takes no value. */
  readonly isSwitch: boolean
  /** The value may contain a password, so it is not repeated in messages. */
  readonly isSecret?: boolean
  createDefault(surroundings: Surroundings): T
  /** `baseDir`: the base of relative paths. Throws an Error that says what was expected. */
  parse(text: string, baseDir: string): T
}

type Common<T> = {
  readonly description: string
  readonly defaultText: string
  readonly createDefault: (surroundings: Surroundings) => T
}

export function pathOption<T extends string | undefined>(common: Common<T> & { placeholder: string }): Option<T> {
  return {
    ...common,
    limits: '',
    isSwitch: false,
    parse(text, baseDir) {
      if (text === '' || text.includes('\0')) throw new Error('expected a path')
      return resolve(baseDir, text) as T
    },
  }
}

export function integerOption<T extends number | undefined = number>(
  common: Common<T> & { min: number; max: number; unit?: string },
): Option<T | number> {
  const { min, max, unit } = common
  const range = `${min} to ${max}${unit ? ` ${unit}` : ''}`
  return {
    ...common,
    placeholder: 'N',
    limits: range,
    isSwitch: false,
    parse(text) {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (!(value >= min && value <= max)) throw new Error(`expected a whole number from ${range}`)
      return value
    },
  }
}

export function switchOption(description: string): Option<boolean> {
  return {
    description,
    placeholder: '',
    defaultText: '`false`',
    limits: '`true` or `false`',
    isSwitch: true,
    createDefault: () => false,
    parse(text) {
      if (['true', '1'].includes(text)) return true
      if (['false', '0'].includes(text)) return false
      throw new Error('expected true or false')
    },
  }
}

export function choiceOption<const T extends string>(
  choices: readonly T[],
  { description, fallback }: { description: string; fallback: NoInfer<T> },
): Option<T> {
  return {
    description,
    placeholder: 'NAME',
    defaultText: `\`${fallback}\``,
    limits: choices.map((choice) => `\`${choice}\``).join(', '),
    isSwitch: false,
    createDefault: () => fallback,
    parse(text) {
      const choice = choices.find((name) => name === text)
      if (choice === undefined) throw new Error(`expected one of ${choices.join(', ')}`)
      return choice
    },
  }
}

/** `form`: the expected form in words, also shown in the reference. `read` returns undefined for any other text. */
export function textOption<T extends string | undefined>(
  common: Common<T> & { placeholder: string; form: string; read: (text: string) => T | undefined },
): Option<T> {
  const { form, read } = common
  return {
    ...common,
    limits: form,
    isSwitch: false,
    parse(text) {
      const value = read(text)
      if (value === undefined) throw new Error(`expected ${form}`)
      return value
    },
  }
}

/** Items separated by commas. An empty text is an empty list. `form`: see `textOption`. */
export function listOption<T extends readonly string[] | undefined>(
  common: Common<T> & { placeholder: string; form: string; isItem: (text: string) => boolean },
): Option<T | readonly string[]> {
  const { form, isItem, ...rest } = common
  return {
    ...rest,
    limits: form,
    isSwitch: false,
    parse(text) {
      const items = text.split(',').flatMap((item) => item.trim() || [])
      if (!items.every(isItem)) throw new Error(`expected ${form}`)
      return items
    },
  }
}
