import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { drawMarkdown } from './markdown.ts'

const draw = (text: string) => String(drawMarkdown(text)).trim()

test('paragraphs, lists, code and tables', () => {
  const cases: [string, string][] = [
    ['One\ntwo\n\nthree', '<p>One\ntwo</p>\n<p>three</p>'],
    ['a `b | c` **d** [e](#f)', '<p>a <code>b | c</code> <strong>d</strong> <a href="#f">e</a></p>'],
    ['- a\n- `b`', '<ul class="list"><li>a</li><li><code>b</code></li></ul>'],
    ['```sh\na\n\n<b>\n```', '<pre class="code"><code>a\n\n&lt;b&gt;</code></pre>'],
    [
      '```json Answer\n{}\n```',
      '<details class="more"><summary>Answer</summary><pre class="code"><code>{}</code></pre>\n</details>',
    ],
    [
      String.raw`| a | b |
|---|---|
| 1 \| 2 | **c** |`,
      '<table class="table"><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>\n<tbody><tr><td>1 | 2</td><td><strong>c</strong></td></tr>\n</tbody></table>',
    ],
  ]
  for (const [text, html] of cases) assert.equal(draw(text), html)
})

test('nothing but what is drawn becomes HTML, and links lead to places of their own', () => {
  assert.equal(draw('<script>'), '<p>&lt;script&gt;</p>')
  assert.equal(draw('[x](javascript:alert)'), '<p>[x](javascript:alert)</p>')
  assert.equal(draw('[x](https://a.example/"onclick=)'), '<p><a href="https://a.example/&quot;onclick=">x</a></p>')
  const drawn =
    /<\/?(?:p|code|strong|ul|li|pre|details|summary|table|thead|tbody|tr|th|td|a)(?: (?:class|scope|href)="[^"<>]*")?>/g
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'`*|[]()<>&"\'-#\n ab:/'.split('')), maxLength: 80 }), (text) => {
      assert.doesNotMatch(draw(text).replaceAll(drawn, ''), /[<>"']/)
    }),
    { numRuns: 2000 },
  )
})
