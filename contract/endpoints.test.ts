import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from './endpoint.ts'
import { endpointNames, endpoints } from './endpoints.ts'

const all: Endpoint[] = Object.values(endpoints)
const parametersOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)

test('the twenty operations of the interface come first, ours after them', () => {
  assert.equal(
    all.findIndex(({ isExtension }) => isExtension),
    20,
  )
  assert.ok(all.slice(20).every(({ isExtension }) => isExtension))
  assert.deepEqual([all[0]!.path, all[19]!.path], ['/v1/me/', '/v1/events/{camera_id}/'])
})

test('no operation is there twice, and each describes the parameters of its path', () => {
  const operations = all.map(({ method, path }) => `${method} ${path}`)
  assert.equal(new Set(operations).size, operations.length)
  for (const { path, params } of all) {
    const described = Object.keys((params as { properties?: object } | undefined)?.properties ?? {})
    assert.deepEqual(described, parametersOf(path), path)
    assert.match(path, /^\/v1\/.*\/$/)
  }
})

test('reading asks for read, changing for read and write; credentials and accounts for their own scope even to be listed', () => {
  for (const { method, access, path } of all) {
    const isAboutAccounts = /^\/v1\/(me\/(?!storage\/)\w|users\/)/.test(path)
    // Where a camera is matters to who changes it, and tells others about the network.
    const isForChanging = path === '/v1/cameras/{camera_id}/source/'
    const usual = method === 'GET' && !isForChanging ? ['read'] : ['read', 'write']
    assert.deepEqual(access.all, isAboutAccounts ? ['account_manage'] : usual, `${method} ${path}`)
    if (isAboutAccounts) assert.equal(access.or, undefined)
  }
})

test('built are those that are not planned', () => {
  assert.deepEqual(
    endpointNames.filter((name) => !('isExtension' in endpoints[name])),
    Object.keys(endpoints).slice(0, 20),
  )
})
