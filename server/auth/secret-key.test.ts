import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSecretKey } from './secret-key.ts'

test('the key is created once, readable only by its owner, even by simultaneous callers', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'nightjar-key-'))
  t.after(() => rm(parent, { recursive: true }))
  const folder = join(parent, 'data')
  const keys = await Promise.all(Array.from({ length: 8 }, () => openSecretKey(folder)))
  const derived = keys.map((key) => Buffer.from(key.deriveKey('media tokens')).toString('hex'))
  assert.equal(new Set(derived).size, 1)
  assert.deepEqual(await readdir(folder), ['secret.key'])
  assert.equal((await stat(join(folder, 'secret.key'))).mode & 0o777, 0o600)
  const again = await openSecretKey(folder)
  assert.equal(Buffer.from(again.deriveKey('media tokens')).toString('hex'), derived[0])
  assert.notDeepEqual(again.deriveKey('camera credentials'), again.deriveKey('media tokens'))
  assert.equal(again.deriveKey('media tokens').length, 32)
})

test('a damaged key file prevents the start and is not replaced', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-key-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'secret.key'), '')
  await assert.rejects(openSecretKey(folder), { kind: 'corrupt' })
  await chmod(join(folder, 'secret.key'), 0o600)
  await assert.rejects(openSecretKey(join(folder, 'secret.key')), { kind: 'unavailable' })
})
