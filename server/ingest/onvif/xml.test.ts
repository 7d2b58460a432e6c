import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { escapeXml, findChild, findText, listChildren, parseXml, XmlBudget, type XmlElement, xmlLimits } from './xml.ts'

const parse = (text: string) => parseXml(new TextEncoder().encode(text))
const isCorrupt = (error: unknown) => error instanceof AppError && error.kind === 'corrupt'

test('elements, attributes and text are parsed without prefixes', () => {
  const root = parse(`<?xml version="1.0"?>
    <s:Envelope xmlns:s="urn:s"><!-- c --><s:Body a="1&amp;2" t:b='q'>
      <U> rtsp://cam/?a=1&amp;b=2&#38;c&#x3D;3 </U><U/><L><![CDATA[<z>&amp;]]></L>
    </s:Body></s:Envelope>`)
  const body = findChild(root, 'Body')
  assert.deepEqual([root.name, body?.attributes.get('a'), body?.attributes.get('b')], ['Envelope', '1&2', 'q'])
  assert.equal(findText(root, 'Body', 'U'), 'rtsp://cam/?a=1&b=2&c=3')
  assert.equal(findText(root, 'Body', 'L'), '<z>&amp;')
  assert.deepEqual([listChildren(body, 'U').length, findText(root, 'Body', 'None', 'U')], [2, undefined])
})

test('document types, entities and too much content are rejected', () => {
  const bad = [
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    '<!doctype a SYSTEM "file:///etc/passwd"><a/>',
    '<a>'.repeat(xmlLimits.depth + 2) + '</a>'.repeat(xmlLimits.depth + 2),
    `<a>${'<b/>'.repeat(xmlLimits.marks)}</a>`,
    `<a${' b=""'.repeat(xmlLimits.marks)}/>`,
    `<a>${' '.repeat(xmlLimits.bytes)}</a>`,
    '',
    'not XML',
    '<a/><b/>',
    '<a b="',
    '<__proto__><x/></__proto__>',
  ]
  for (const text of bad) assert.throws(() => parse(text), isCorrupt, text.slice(0, 40))
  assert.equal(parse('<a>&unknown;&#xffffff;</a>').text, '&unknown;&#xffffff;')
})

test('repeated responses are parsed until the budget is used up', () => {
  const budget = new XmlBudget(10)
  const bytes = new TextEncoder().encode('<a b="1"><c/></a>')
  for (let i = 0; i < 2; i++) assert.equal(parseXml(bytes, budget).name, 'a')
  assert.throws(() => parseXml(bytes, budget), isCorrupt)
})

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,8}$/).filter((text) => !(text in {}))
const words = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.trim())

type Written = { name: string; attributes: [string, string][]; text: string; children: Written[] }

const { tree } = fc.letrec<{ tree: Written }>((tie) => ({
  tree: fc.record(
    {
      name,
      attributes: fc.uniqueArray(fc.tuple(name, words), { maxLength: 3, selector: ([key]) => key }),
      text: words,
      children: fc.oneof({ depthSize: 'small' }, fc.constant<Written[]>([]), fc.array(tie('tree'), { maxLength: 3 })),
    },
    { noNullPrototype: true },
  ),
}))

const write = ({ name, attributes, text, children }: Written): string =>
  `<p:${name}${attributes.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join('')}>${escapeXml(text)}${children
    .map(write)
    .join('')}</p:${name}>`

const toPlain = ({ name, attributes, text, children }: XmlElement): Written => ({
  name,
  attributes: [...attributes],
  text,
  children: children.map(toPlain),
})

test('written XML is parsed to the same elements', () => {
  fc.assert(fc.property(tree, (written) => assert.deepEqual(toPlain(parse(write(written))), written)))
})

test('any text is parsed or rejected as corrupt', () => {
  const chunks = fc.constantFrom('<', '>', '</', '/>', '<a>', '</a>', '<a b="', '"', '<![CDATA[', ']]>', '<!--', '-->')
  const more = fc.constantFrom('<?x', '?>', '&', '&amp;', '&#', ';', '=', ' ', '<!', 'constructor', '__proto__', '\0')
  const hostile = fc.array(fc.oneof(chunks, more, fc.string({ maxLength: 5 })), { maxLength: 60 })
  const parseAny = (bytes: Uint8Array) => {
    try {
      parseXml(bytes)
    } catch (error) {
      assert.ok(isCorrupt(error), String(error))
    }
  }
  fc.assert(
    fc.property(hostile, (parts) => parseAny(new TextEncoder().encode(parts.join('')))),
    { numRuns: 2000 },
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), parseAny))
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})
