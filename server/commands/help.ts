// The texts of --help.

import type { Option } from '../config/option.ts'
import { options as configOptions } from '../config/options.ts'
import { type OptionName, optionNames } from '../config.ts'
import type { Command, CommandOptions } from './command.ts'

/** Options that every command has. */
export const commonOptions: CommandOptions = {
  data: { placeholder: 'FOLDER', description: plain(configOptions.data) },
  config: {
    placeholder: 'FILE',
    description: 'Configuration file. Default: nightjar.json in the data folder, if there is one.',
  },
  json: { description: 'Print one JSON object.' },
  help: { description: 'Print this help.' },
}

/** All options of the configuration as flags. */
export const serverOptions: CommandOptions = Object.fromEntries(
  optionNames.map((name) => {
    const option = configOptions[name as OptionName] as Option<unknown>
    return [name, { ...(!option.isSwitch && { placeholder: option.placeholder }), description: plain(option) }]
  }),
)

export function writeOverview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => usage(command).length))
  return `Nightjar: a camera cloud that everyone can run themselves.

Usage: nightjar COMMAND [options]

Commands:
${commands.map((command) => `  ${usage(command).padEnd(width)}  ${command.summary}`).join('\n')}

Run "nightjar COMMAND --help" for details. Commands can be used while the server is running; it applies changes within two seconds.`
}

export function writeCommandHelp(command: Command): string {
  const own = Object.keys(command.options).length > 0
  return `${command.summary}

Usage: nightjar ${usage(command)} [options]
${own ? `\nOptions:\n${writeOptions(command.options)}\n` : ''}
Common options:
${writeOptions(Object.fromEntries(Object.entries(commonOptions).filter(([name]) => !(name in command.options))))}`
}

function usage({ name, positionals, options }: Command): string {
  const required = Object.entries(options).filter(([, option]) => option.isRequired)
  return [name, ...positionals, ...required.map(([flag, option]) => `--${flag} ${option.placeholder}`)].join(' ')
}

function writeOptions(options: CommandOptions): string {
  const shown = Object.entries(options).filter(([, option]) => !option.isHidden)
  const rows = shown.map(([name, option]) => [
    option.placeholder ? `--${name} ${option.placeholder}` : `--${name}`,
    option.description + (option.isRequired ? ' Required.' : ''),
  ])
  const width = Math.max(...rows.map(([flag]) => flag!.length))
  return rows.map(([flag, description]) => `  ${flag!.padEnd(width)}  ${description}`).join('\n')
}

function plain(option: Option<never> | Option<unknown>): string {
  return `${option.description} Default: ${option.defaultText}.`
    .replace(/\[([^\]]+)\]\((?:\.\.\/)*([^)#]+)[^)]*\)/g, '$1 (docs/$2)')
    .replaceAll('`', '')
}
