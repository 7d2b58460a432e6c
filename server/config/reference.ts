// Generates the reference page of the configuration from the options.

import { configFileName, type OptionName, optionNames, variableName } from '../config.ts'
import type { Option } from './option.ts'
import { options } from './options.ts'

/** Markdown of docs/reference/configuration.md. A test compares them. */
export function writeConfigurationReference(): string {
  return `# Configuration

<!-- Generated: node_modules/.bin/node server/config/write-reference.ts -->

Every option may be given in a file, as a variable of the environment and as a flag of the command line. The flag wins over
the variable, the variable over the file, the file over the default. A wrong value stops the start, and all wrong values are
named at once; an empty variable counts as not given.

The file is \`${configFileName}\` in the data folder, or the one named by \`--config\` or \`${variableName('config')}\`: a JSON
object of options by their names, for instance \`{"port": 443, "public-url": "https://cameras.example.org"}\`. Relative paths
are relative to the folder of the file; in variables and flags, to the current folder.

| option | variable | default | limits | description |
|---|---|---|---|---|
${optionNames.map(writeRow).join('\n')}

A switch is turned on with \`--name\` and off with \`--no-name\`.
`
}

function writeRow(name: OptionName): string {
  const option = options[name] as Option<unknown>
  const flag = option.isSwitch ? `--${name}` : `--${name} ${option.placeholder}`
  return `| \`${flag}\` | \`${variableName(name)}\` | ${option.defaultText} | ${option.limits} | ${option.description} |`
}
