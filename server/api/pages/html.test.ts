import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { html } from './html.ts'

test('values are escaped, in text and in attributes', () => {
  const name = `<b title="x" id='y'>&amp;`
  assert.equal(
    String(html`<p title="${name}">${name}</p>`),
    '<p title="&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;">&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;</p>',
  )
})

test('HTML inside HTML is kept, lists are joined, nothing stands for nothing', () => {
  const items = ['a', '<'].map((text) => html`<li>${text}</li>`)
  assert.equal(String(html`<ul>${items}</ul>`), '<ul><li>a</li><li>&lt;</li></ul>')
  assert.equal(String(html`${undefined}${null}${false}${0}${''}${[]}`), '0')
  assert.equal(String(html`\u00e9 &middot; "${html`<br>`}"`), 'é &middot; "<br>"')
})

test('what pretends to be HTML is not', () => {
  const fake = { toString: () => '<script>' } as unknown as string
  assert.equal(String(html`${fake}`.toString()).includes('<script>'), false)
})

test('no text changes what is around it, and every text comes back', () => {
  const read = (text: string) =>
    text.replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name as 'amp'],
    )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const inner = String(html`<i a="${text}">`).slice('<i a="'.length, -'">'.length)
      assert.doesNotMatch(inner, /[<>"']/)
      assert.equal(read(inner), text)
    }),
  )
})
