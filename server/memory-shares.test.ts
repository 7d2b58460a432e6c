import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { shareMemory } from './memory-shares.ts'

const mebibyte = 2 ** 20

test('a small machine shares out what it has, a large one no more than is of use', () => {
  const small = shareMemory(512 * mebibyte, 1)
  assert.deepEqual(small.connections, { max: 1024, maxOfOne: 256 })
  assert.deepEqual(small.streams, { max: 1024, maxOfOne: 256 })
  assert.deepEqual(small.unsentBytes, { max: 64 * mebibyte, maxOfOne: 16 * mebibyte })
  assert.equal(small.groupBytes, 32 * mebibyte)
  assert.deepEqual([small.decoders, small.containers, small.decodingBytes], [2, 5, 256 * mebibyte])
  const large = shareMemory(256 * 1024 * mebibyte, 8)
  assert.deepEqual(large.connections, { max: 8192, maxOfOne: 2048 })
  assert.equal(large.retainedBytes, 512 * mebibyte)
  assert.equal(large.streamEntries, 1_000_000)
  assert.deepEqual([large.decoders, large.containers, large.decodingBytes], [512, 50, 1024 * mebibyte])
})

/** Long-lived collections: class members and module-level constants. */
const lasting =
  /^ {2}(?:readonly )?#\w+[^=(\n]*= new (?:Map|Set|VersionedCache|RateLimiter|FailureCounter|Semaphore|LruCache)\b|^const \w+ = new (?:Map|Weak\w+)<|this\.#\w+ = new (?:VersionedCache|RateLimiter|Semaphore|FairSemaphore|UsageCounter|ByteBudget)\b/m

/** Used only by tests or the command line, or never added to after creation. */
const isElsewhere =
  /test|temporary|\bmemory-|page-cache-model|\/commands\/|\/description\/|allowed-methods|postgres-types|replayed-camera/

test('every file that keeps something is named in the table of bounds', () => {
  const root = join(import.meta.dirname, '..')
  const table = readFileSync(join(root, 'docs/design/memory.md'), 'utf8')
  const files = globSync('server/**/*.ts', { cwd: root }).filter((file) => !isElsewhere.test(file))
  const keeping = files.filter((file) => lasting.test(readFileSync(join(root, file), 'utf8')))
  assert.ok(keeping.length > 50)
  const missing = keeping.filter((file) => !table.includes(basename(file)))
  assert.deepEqual(missing, [], 'what bounds it belongs into docs/design/memory.md')
})
