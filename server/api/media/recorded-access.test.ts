// Who may continue to watch a recorded stream: real footage over real sockets, on both databases.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { FootageScene } from '../../../test/playback/footage-scene.ts'
import { parsePlaylist } from '../../../test/playback/parse-playlist.ts'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { listTexts, readRows } from '../../../test/postgres/read-rows.ts'
import { openTemporaryApi, publicUrl } from '../../../test/support/api/temporary-api.ts'
import {
  addApplication,
  askRevoke,
  askToken,
  createTemporaryOAuth,
  readPair,
  testPassword,
} from '../../../test/support/auth/temporary-oauth.ts'
import { syntheticStartMs } from '../../../test/support/media/synthetic-frames.ts'
import { Authenticator } from '../../auth/authenticator.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import type { Store } from '../../store/store.ts'

async function openRecorded(t: TestContext, { openStore }: TestDatabase) {
  const scene = new FootageScene()
  t.after(() => scene[Symbol.asyncDispose]())
  // About 18 MB, which exceeds the buffers on the way to a slow client.
  await scene.record(0, 40, { width: 640, height: 480 })
  let database = ''
  const addParts = (store: Store) => {
    const { tokens, grants } = store
    const authenticator = new Authenticator({ tokens, grants, source: store, clock: systemClock, log: silentLogger })
    const isLive = authenticator.isLive.bind(authenticator)
    return { authenticator, recorded: scene.playback({ publicUrl, streams: store.streams, isLive }) }
  }
  const temporary = await openTemporaryApi(t, {}, addParts, async (...args) => {
    const opened = await openStore(...args)
    database = opened.database
    return opened
  })
  const { api, store, identity } = temporary
  const owner = await temporary.addUser('owner@example.com')
  const cameraId = await temporary.addCamera(owner.userId)
  assert.equal(cameraId, 1, 'the camera of the footage')
  await store.recordings.enable(cameraId, { retention: 'P7D', maxBytes: null })
  const app = await addApplication(store, { ownerId: owner.userId })
  const port = await api.listen({ host: '127.0.0.1', port: 0 })
  const get = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, ca: identity.cert, agent: false }
      https.get(options, resolve).on('error', reject)
    })
  const statusOf = async (path: string) => {
    const response = await get(path)
    response.resume()
    return response.statusCode
  }
  /** URL of the stream and of its first file. */
  const openStream = async (authorization: string) => {
    const start = new Date(syntheticStartMs).toISOString()
    const url = `/v1/cameras/${cameraId}/recording/stream/?start=${start}`
    const response = await api.server.inject({ url, headers: { authorization } })
    assert.equal(response.statusCode, 200, response.body)
    const playlist = new URL(response.json().url).pathname
    const text = (await api.server.inject({ url: playlist })).body
    const file = new URL(parsePlaylist(text).entries[0]!.uri, `${publicUrl}${playlist}`).pathname
    return { playlist, file, id: playlist.split('/')[3]! }
  }
  return { ...temporary, owner, app, openStream, statusOf, get, readDatabase: () => readRows(database) }
}

/** What a slow client receives; false if it is incomplete. */
async function readSlowly(response: IncomingMessage): Promise<boolean> {
  let bytes = 0
  try {
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length
      await delay(20)
    }
  } catch {
    return false // cut off
  }
  return bytes === Number(response.headers['content-length'])
}

testEachDatabase(
  'T17, T22: a recorded stream ends with the token or grant it was asked for with, for those who watch too',
  async (t, database) => {
    const { store, owner, openStream, statusOf, get } = await openRecorded(t, database)
    const oauth = createTemporaryOAuth(store)
    const sent = { grant_type: 'password', client_id: 'app', username: 'owner@example.com', password: testPassword }
    const [grant, other] = [readPair(await askToken(oauth, sent)), readPair(await askToken(oauth, sent))]
    const ways: [string, () => Promise<unknown>][] = [
      [owner.authorization, () => store.tokens.revoke(owner.tokenId)],
      [`Bearer ${grant.access_token}`, () => askRevoke(oauth, { client_id: 'app', token: grant.refresh_token })],
    ]
    const kept = await openStream(`Bearer ${other.access_token}`)
    for (const [authorization, revoke] of ways) {
      const { playlist, file } = await openStream(authorization)
      assert.deepEqual([await statusOf(playlist), await statusOf(file)], [200, 200])
      const response = await get(file)
      assert.equal(response.statusCode, 200)
      const watching = readSlowly(response)
      await revoke()
      assert.deepEqual([await statusOf(playlist), await statusOf(file)], [404, 404])
      assert.equal(await watching, false, 'cut off')
      assert.deepEqual([await statusOf(kept.playlist), await statusOf(kept.file)], [200, 200])
    }
    // A refresh belongs to the same sign-in.
    const next = { grant_type: 'refresh_token', client_id: 'app', refresh_token: other.refresh_token }
    readPair(await askToken(oauth, next))
    assert.equal(await statusOf(kept.playlist), 200)
  },
)

testEachDatabase('T23: who reads the database cannot watch a recorded stream', async (t, database) => {
  const { owner, openStream, statusOf, readDatabase } = await openRecorded(t, database)
  const { id, playlist } = await openStream(owner.authorization)
  assert.match(id, /^[0-9a-f]{32}$/)
  const rows = await readDatabase()
  const texts = listTexts(rows)
  const hash = createHash('sha256').update(id).digest()
  assert.ok(texts.includes(hash.toString('latin1')), 'the rows are searched')
  for (const form of [id, Buffer.from(id, 'hex').toString('latin1')]) {
    assert.ok(!texts.some((text) => text.includes(form)))
  }
  assert.equal(await statusOf(playlist.replace(id, hash.toString('hex'))), 404)
  assert.equal(await statusOf(playlist), 200)
})
