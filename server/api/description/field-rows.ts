// Describes fields and parameters as rows of a Markdown table.

import type { Parameter, Schema } from './openapi.ts'

/** Turns the name of a component into a link to its description. */
export type Link = (component: string) => string

export function writeFieldTable({ properties = {}, required = [] }: Schema, link: Link, isInput: boolean): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const must = isInput && required.includes(name) ? 'required' : ''
    const may = !isInput && !required.includes(name) ? 'optional' : ''
    return writeRow([`\`${name}\``, [writeType(field, link), must, may].filter(Boolean).join(', '), field.description])
  })
  return ['| field | type | description |', '|---|---|---|', ...rows].join('\n')
}

export function writeParameterTable(parameters: readonly Parameter[], link: Link): string {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => {
    const type = [writeType(schema, link), `in ${place === 'header' ? 'a header' : `the ${place}`}`]
    return writeRow([`\`${name}\``, [...type, ...(required ? ['required'] : [])].join(', '), description])
  })
  return ['| parameter | type | description |', '|---|---|---|', ...rows].join('\n')
}

function writeRow(cells: readonly (string | undefined)[]): string {
  return `| ${cells.map((cell = '') => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`
}

const formats: { readonly [format: string]: string } = {
  'date-time': 'time',
  email: 'email address',
  uri: 'URL',
  duration: 'duration',
  binary: 'bytes',
}

function writeType(schema: Schema, link: Link): string {
  const { $ref, anyOf, oneOf, const: only, type, format, items } = schema
  const isNullable = Array.isArray(type) && type.includes('null')
  const orNull = isNullable ? ' or null' : ''
  if ($ref !== undefined) return link($ref.split('/').at(-1)!)
  if (anyOf ?? oneOf) return (anyOf ?? oneOf)!.map((option) => writeType(option, link)).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ') + orNull
  if (only !== undefined) return `\`${only}\``
  if (items) return `list of ${writeType(items, link).replace(/^(object|string|integer)\b/, '$1s')}`
  const plain = typeof type === 'string' ? type : type?.find((name) => name !== 'null')
  if (plain === undefined) return 'any JSON'
  const name = format === undefined ? plain : (formats[format] ?? plain)
  return `${name}${writeLimits(schema)}${plain === 'object' ? writeKeys(schema, link) : ''}${orNull}`
}

function writeLimits({ minimum, maximum, exclusiveMinimum, minLength, maxLength, maxItems }: Schema): string {
  const isLargest = maximum === undefined || maximum >= 2 ** 31 - 1
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`
  if (minimum !== undefined) return isLargest ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`
  if (maxItems !== undefined) return ` of at most ${maxItems}`
  if (maxLength !== undefined)
    return minLength ? ` of ${minLength} to ${maxLength} characters` : ` of at most ${maxLength} characters`
  return ''
}

/** Lists the keys of an object that has no name of its own. */
function writeKeys({ properties }: Schema, link: Link): string {
  if (!properties) return ''
  return ` with ${Object.entries(properties)
    .map(([name, field]) => `\`${name}\` (${writeType(field, link)})`)
    .join(', ')}`
}
