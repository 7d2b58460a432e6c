import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicUrl } from '../../../test/support/api/temporary-api.ts'
import { openTemporaryPages } from '../../../test/support/api/temporary-pages.ts'
import { createDescription } from '../description/description.ts'

test('the page of the interface has every operation, object and scope, and all its links lead somewhere', async (t) => {
  const { openBrowser } = await openTemporaryPages(t)
  const { status, text } = await openBrowser().open('/docs/')
  assert.equal(status, 200)
  const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
  assert.equal(new Set(ids).size, ids.length)
  const targets = [...text.matchAll(/ href="#([^"]+)"/g)].map(([, target]) => target!)
  assert.deepEqual(
    targets.filter((target) => !ids.includes(target)),
    [],
  )
  const { paths, components } = createDescription(publicUrl)
  for (const [path, item] of Object.entries(paths)) {
    for (const method of Object.keys(item)) {
      assert.ok(new RegExp(`<code>${method.toUpperCase()} ${RegExp.escape(path)}</code>`).test(text), path)
    }
  }
  for (const name of Object.keys(components.schemas)) assert.ok(text.includes(`>${name}</h3>`), name)
  assert.ok(text.includes(`${publicUrl}/v1/cameras/12/`))
  assert.doesNotMatch(text, /<script|<style| style=|this-server|undefined|\[object/)
})
