// The pages of the server and of storage with several servers of one database: what runs where and why, which server is
// gone, and the disk of each.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Storage as StorageState } from '../../contract/storage.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { testPostgres } from '../postgres/each-database.ts'
import { eventually, openServerBeside, openServerHere } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { checkAccessible, openDashboard, shoot } from './dashboard-scene.ts'

testPostgres('owners see what runs on which server and why, and which server is gone', async (t, postgres) => {
  process.env.NIGHTJAR_DATABASE = await postgres.createDatabase()
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  const streams = createLoadStreams(4, { width: 320, height: 180, framesPerSecond: 10, gopFrames: 10 })
  const source = await openFakeCamera({ streams })
  t.after(() => source[Symbol.asyncDispose]())
  const options = async (name: string) => {
    const peer = `127.0.0.1:${await findOwnPort()}`
    return ['--node-name', name, '--peer-address', peer, '--min-free', '0']
  }
  const scene = await openDashboard(async () => openServerHere(...(await options('n1'))))
  t.after(() => scene[Symbol.asyncDispose]())
  const { server } = scene
  const second = await openServerBeside(server, ...(await options('n2')))
  t.after(() => second[Symbol.asyncDispose]())
  const third = await openServerBeside(server, ...(await options('n3')))
  t.after(() => third[Symbol.asyncDispose]())
  await server.command('node', 'label', 'n2', 'shop')
  const ids: number[] = []
  for (const { name } of streams) ids.push(await server.addCamera(name, source.url(name), '--record', 'P1D'))
  await server.command('camera', 'place', String(ids[0]), '--label', 'shop')
  await server.command('camera', 'place', String(ids[1]), '--node', 'n3')

  const page = await scene.openPage()
  await scene.signIn(page, '/settings/server')
  const panel = page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Servers' }) })
  const shows = (name: string, pattern: RegExp) =>
    eventually(`${name}: ${pattern}`, 60_000, async () => pattern.test(await panel.innerText()))
  await shows('label', /n2\s+.*1 by label.*shop/)
  await shows('name', /n3\s+.*1 placed here/)
  await page.getByText('4 of 4').first().waitFor()
  await page.getByText('Everything works.').waitFor()
  await shoot(page, 'settings-servers')
  await checkAccessible(page)
  await server.command('node', 'drain', 'n3')
  await shows('drained', /n3\s+.*gives its cameras to others/)
  await shoot(page, 'settings-servers-drained')
  await page.getByRole('link', { name: 'Storage' }).click()
  for (const name of ['n1', 'n2', 'n3']) {
    const disk = page.locator('.panel').filter({ has: page.getByRole('heading', { name: `Disk of ${name}` }) })
    await disk.getByText('Recordings').waitFor()
  }
  await shoot(page, 'settings-storage-servers')
  await checkAccessible(page)
  const ofSecond = '/at/n2/v1/me/storage/'
  const { places } = (await server.request<StorageState>(ofSecond)).json.server!
  assert.deepEqual(
    places.map(({ folder }) => folder),
    [join(second.dataDir, 'archive')],
  )
  await page.getByRole('link', { name: 'Server' }).click()
  await second.kill()
  await shows('gone', /n2\s+gone since/)
  assert.equal((await server.request(ofSecond)).status, 503, 'no other server answers in its place')
  assert.equal((await server.request(ofSecond, { authorization: null })).status, 401)
  await page.getByText('Something needs your attention.').waitFor()
  await page.setViewportSize({ width: 400, height: 860 })
  await panel.scrollIntoViewIfNeeded()
  await shoot(page, 'settings-servers-phone')
  await checkAccessible(page)
  assert.deepEqual(scene.complaints, [])
})
