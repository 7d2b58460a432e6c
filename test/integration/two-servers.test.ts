// Two servers with the same database, as a result of a copied configuration.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { testEachDatabase } from '../postgres/each-database.ts'
import { openServerHere } from '../server-under-test.ts'

const entry = fileURLToPath(new URL('../../server/commands/nightjar.ts', import.meta.url))

testEachDatabase(
  'a second server on the same database ends with an error message that names the first',
  async (t, { create }) => {
    const database = await create(t)
    const other = await mkdtemp(join(tmpdir(), 'nightjar-second-'))
    t.after(() => rm(other, { recursive: true }))
    // Servers and commands get the database from the environment, as in a service.
    process.env.NIGHTJAR_DATABASE = database
    t.after(() => delete process.env.NIGHTJAR_DATABASE)
    await using server = await openServerHere()
    // With the first server's key the second could read everything.
    await copyFile(join(server.dataDir, 'secret.key'), join(other, 'secret.key'))
    const start = async () => {
      const args = [entry, 'serve', '--data', other, '--host', '127.0.0.1', '--port', '0']
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      const [stdout, stderr, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve) => child.once('exit', resolve)),
      ])
      return { stdout, stderr, code }
    }
    const refused = await start()
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    const named =
      /is used by another Nightjar server, on .*nightjar-test-|another server is called .*, on .*nightjar-test-/
    assert.match(refused.stderr, named)
    assert.doesNotMatch(refused.stderr, /tester:/, 'no password')
    assert.equal((await server.request('/v1/me/')).status, 200)
    // Commands work beside the running server, also with the other folder.
    const users = await server.command<{ users: unknown[] }>('user', 'list')
    assert.equal(users.users.length, 1)
  },
)
