import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from './make-folder.ts'

test('a folder is created with its parents, and left alone if it exists', async (t) => {
  const top = await mkdtemp(join(tmpdir(), 'nightjar-folder-'))
  t.after(() => rm(top, { recursive: true }))
  assert.equal(await makeFolder(join(top, 'a/b/c'), 0o700), join(top, 'a'))
  assert.equal((await stat(join(top, 'a/b/c'))).mode & 0o777, 0o700)
  assert.equal(await makeFolder(join(top, 'a/b/c'), 0o700), undefined)
  assert.equal(await makeFolder(join(top, 'a/b/d'), 0o700), join(top, 'a/b/d'))
  await symlink(join(top, 'a'), join(top, 'link'))
  assert.equal(await makeFolder(join(top, 'link/e'), 0o700), join(top, 'link/e'))
  const both = await Promise.all([1, 2].map(() => makeFolder(join(top, 'x/y/z'), 0o700)))
  assert.ok(both.includes(join(top, 'x')))
})

test('a path that cannot be a folder is refused', async (t) => {
  const top = await mkdtemp(join(tmpdir(), 'nightjar-folder-'))
  t.after(() => rm(top, { recursive: true }))
  await writeFile(join(top, 'file'), '')
  await assert.rejects(makeFolder(join(top, 'file'), 0o700), { code: 'EEXIST' })
  await assert.rejects(makeFolder(join(top, 'file/a'), 0o700), { code: 'ENOTDIR' })
  await symlink('/nowhere/at/all', join(top, 'dangling'))
  await assert.rejects(makeFolder(join(top, 'dangling'), 0o700), { code: 'ENOENT' })
})

test(
  'a folder the system says it cannot find a place for is not tried for ever',
  {
    skip: platform() !== 'linux' && 'needs /proc',
  },
  () => assert.rejects(makeFolder('/proc/nightjar/data', 0o700), { code: 'ENOENT' }),
)
