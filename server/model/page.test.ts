import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getPage, writePageLinks } from './page.ts'

const url = 'https://nightjar.example/v1/cameras/'
const links = (count: number, limit: number, offset: number, query = '') =>
  writePageLinks(url, query, count, { limit, offset })

test('the page asked for, with its default and its cap', () => {
  assert.deepEqual(getPage({}), { limit: 100, offset: 0 })
  assert.deepEqual(getPage({ limit: 1001, offset: 7 }), { limit: 1000, offset: 7 })
})

test('links lead to the neighbours and keep the other parameters', () => {
  assert.deepEqual(links(12, 5, 0), { next: `${url}?limit=5&offset=5`, previous: null })
  assert.deepEqual(links(12, 5, 5), { next: `${url}?limit=5&offset=10`, previous: `${url}?limit=5` })
  assert.deepEqual(links(12, 5, 3, 'limit=5&offset=3&refresh_rate=0.1'), {
    next: `${url}?limit=5&offset=8&refresh_rate=0.1`,
    previous: `${url}?limit=5&refresh_rate=0.1`,
  })
  assert.deepEqual(links(12, 5, 10), { next: null, previous: `${url}?limit=5&offset=5` })
})

test('a page past the end has no next', () => {
  assert.equal(links(12, 5, 500).next, null)
  assert.equal(links(12, 5, 500).previous, `${url}?limit=5&offset=495`)
  assert.deepEqual(links(0, 5, 0), { next: null, previous: null })
})

test('following next from the start visits every item once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: 60 }), (count, limit) => {
      let seen = 0
      for (let next: string | null = `${url}?limit=${limit}`; next; ) {
        const query: URLSearchParams = new URL(next).searchParams
        const offset = Number(query.get('offset') ?? 0)
        assert.equal(offset, seen)
        seen += Math.min(limit, count - offset)
        next = links(count, limit, offset, query.toString()).next
      }
      assert.equal(seen, count)
    }),
  )
})
