import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { replaceFile } from './replace-file.ts'

test('a file is created, then replaced, with the mode that was asked for', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'key.pem')
  // What a crash left, longer than the new content and readable by everyone.
  await writeFile(join(folder, '.key.pem.new'), 'left over from an earlier attempt', { mode: 0o644 })
  await replaceFile(path, 'first', 0o600)
  assert.equal(await readFile(path, 'utf8'), 'first')
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await replaceFile(path, Buffer.from('second'), 0o644)
  assert.equal(await readFile(path, 'utf8'), 'second')
  assert.equal((await stat(path)).mode & 0o777, 0o644)
  assert.deepEqual(await readdir(folder), ['key.pem'])
})

test('readers see the old content or the new, never a part', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'value')
  const contents = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(300_000))
  await replaceFile(path, contents[0]!, 0o600)
  let isWriting = true
  const reading = (async () => {
    while (isWriting) assert.ok(contents.includes(await readFile(path, 'utf8')))
  })()
  for (let i = 1; i <= 20; i++) await replaceFile(path, contents[i % contents.length]!, 0o600)
  isWriting = false
  await reading
})

test('after a failure the old file is as it was, and nothing is left over', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-'))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'taken'))
  await writeFile(join(folder, 'taken', 'file'), 'kept')
  await assert.rejects(replaceFile(join(folder, 'taken'), 'text', 0o600))
  assert.deepEqual(await readdir(folder), ['taken'])
  assert.equal(await readFile(join(folder, 'taken', 'file'), 'utf8'), 'kept')
  await assert.rejects(replaceFile(join(folder, 'missing', 'file'), 'text', 0o600), { code: 'ENOENT' })
})
