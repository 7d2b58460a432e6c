// Parses XML from cameras. It supports only the part of XML that ONVIF uses: no document types and only the predefined
// entities. Everything is limited, because the user who chose the host controls the content. Names have no prefixes.

import { XMLParser } from 'fast-xml-parser'
import { AppError } from '../../base/error.ts'

export type XmlElement = {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** The text directly inside the element, trimmed. */
  readonly text: string
}

/** `marks`: the number of `<` and `=` characters, which determines the time for parsing. */
export const xmlLimits = { bytes: 256 * 1024, depth: 32, marks: 16_000 } as const

/** Limits the total amount of XML from a host that sends several responses. */
export class XmlBudget {
  #marks: number

  constructor(marks: number) {
    this.#marks = marks
  }

  /** @throws AppError 'corrupt' if the budget is used up */
  take(marks: number): void {
    this.#marks -= marks
    if (this.#marks < 0) throw corrupt('expected less XML in total')
  }
}

/** A node of fast-xml-parser with `preserveOrder`: one key for the element or its text, and its attributes. */
type Node = { readonly [name: string]: readonly Node[] | string | { readonly [attribute: string]: string } }

const attributesKey = ':@'
const textKey = '#text'
const literalKey = '#cdata'

/** @throws AppError 'corrupt' if it is not XML, or exceeds the limits or the budget */
export function parseXml(bytes: Uint8Array, budget?: XmlBudget): XmlElement {
  if (bytes.length > xmlLimits.bytes) throw corrupt(`expected at most ${xmlLimits.bytes} bytes, got ${bytes.length}`)
  const text = new TextDecoder().decode(bytes)
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw corrupt('expected no document type')
  const marks = countMarks(text)
  if (marks > xmlLimits.marks) throw corrupt(`expected at most ${xmlLimits.marks} tags and attributes`)
  budget?.take(marks)
  const roots = readNodes(text).filter((node) => nameOf(node) !== undefined)
  if (roots.length !== 1) throw corrupt(`expected one element, got ${roots.length}`)
  return toElement(roots[0]!, 0)
}

function readNodes(text: string): readonly Node[] {
  const parser = new XMLParser({
    preserveOrder: true,
    removeNSPrefix: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    parseAttributeValue: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    processEntities: false,
    textNodeName: textKey,
    cdataPropName: literalKey,
    maxNestedTags: xmlLimits.depth,
    jPath: false,
  })
  try {
    return parser.parse(text) as readonly Node[]
  } catch (error) {
    throw new AppError('corrupt', 'the XML is invalid', { cause: error })
  }
}

/** Returns the element at the end of the path, taking the first child of each name. */
export function findChild(element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  return path.reduce((from, name) => from?.children.find((child) => child.name === name), element)
}

export function listChildren(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? []
}

/** Undefined if there is no such element or it is empty. */
export function findText(element: XmlElement | undefined, ...path: readonly string[]): string | undefined {
  return findChild(element, ...path)?.text || undefined
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function toElement(node: Node, depth: number): XmlElement {
  if (depth > xmlLimits.depth) throw corrupt(`expected at most ${xmlLimits.depth} nested elements`)
  const name = nameOf(node)!
  const content = node[name]
  const children: XmlElement[] = []
  let text = ''
  for (const child of Array.isArray(content) ? (content as readonly Node[]) : []) {
    const literal = child[literalKey]
    if (nameOf(child) !== undefined) children.push(toElement(child, depth + 1))
    else if (literal !== undefined) text += textIn(literal)
    else text += decodeReferences(textIn(child[textKey]))
  }
  const attributes = Object.entries(node[attributesKey] ?? {}).map(
    ([key, value]) => [key, decodeReferences(textIn(value))] as const,
  )
  return { name, attributes: new Map(attributes), children, text: text.trim() }
}

/** Undefined for a text node. */
function nameOf(node: Node): string | undefined {
  return Object.keys(node).find((key) => key !== attributesKey && key !== textKey && key !== literalKey)
}

/** Text is a string, or the only item of a list in a CDATA section. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.map((part: Node) => textIn(part[textKey])).join('') : ''
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decodeReferences(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()]!
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0x10ffff ? whole : String.fromCodePoint(code)
  })
}

function countMarks(text: string): number {
  let count = 0
  for (const mark of ['<', '=']) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) count++
  }
  return count
}

function corrupt(reason: string): AppError {
  return new AppError('corrupt', `invalid XML from the camera: ${reason}`)
}
