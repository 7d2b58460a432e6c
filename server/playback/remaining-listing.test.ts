import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CheckedPlaylist, checkNextPlaylist, checkPlaylist } from '../../test/playback/check-playlist.ts'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { readBytes, StreamPlayer } from '../../test/playback/stream-player.ts'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import { syntheticStartMs as t0 } from '../media/mp4/synthetic-frames.ts'
import type { Playback } from './playback.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000

const slow = { frameRate: 5, gopFrames: 5 } as const

/** Three runs in a row of files, one of them of another size, with gaps. */
async function record(scene: FootageScene): Promise<void> {
  await scene.record(0, 250, slow)
  await scene.lose('camera_unreachable')
  await scene.record(270, 400, { ...slow, width: 80, height: 64, audioSampleRate: 16000 })
  await scene.lose('no_frames')
  await scene.record(400, 700, slow)
}

async function load(playback: Playback, id: string, speed = 1): Promise<CheckedPlaylist> {
  const playlist = checkPlaylist(await playback.playlist(id), speed)
  assert.deepEqual(playlist.faults, [])
  return playlist
}

/** What may not change for a player that was told `before`. That the front leaves is no fault here: it was deleted. */
function findFaults(before: CheckedPlaylist, next: CheckedPlaylist): string[] {
  return checkNextPlaylist({ ...before, type: undefined }, { ...next, type: undefined }).filter(
    // A section whose file is deleted is served by another one of the same content.
    (fault) => !fault.startsWith('the map of entry'),
  )
}

const readEntry = async (playback: Playback, id: string, { uri, range }: CheckedPlaylist['entries'][number]) =>
  readBytes(await playback.openBytes(id, uri, range && `bytes=${range.offset}-${range.offset + range.bytes - 1}`))

for (const speed of [1, 4]) {
  test(`a day's playlist keeps its numbers and times when its beginning was deleted over a restart, at speed ${speed}`, async () => {
    await using scene = new FootageScene()
    await record(scene)
    await scene.stop()
    scene.clock.ms = at(2000)
    const files = await scene.catalog.listSegments(1, at(0), at(689))
    assert.ok(files.length > 10)
    const ids: string[] = []
    const told: CheckedPlaylist[] = []
    const playback = scene.playback()
    // One of them begins where its first file is nearly over.
    for (const startS of [5, 59.2]) {
      const { id } = await playback.createStream({ ...user, startMs: at(startS), endMs: at(690), isRecording: false })
      if (speed !== 1) await playback.setSpeed(id, speed)
      ids.push(id)
      told.push(await load(playback, id, speed))
    }
    const newest = await Promise.all(ids.map((id, i) => readEntry(playback, id, told[i]!.entries.at(-1)!)))
    for (const [deleted, file] of files.slice(0, -1).entries()) {
      await scene.deleteSegments([file.id])
      const restarted = scene.playback()
      for (const [i, id] of ids.entries()) {
        const playlist = await load(restarted, id, speed)
        const where = `${deleted + 1} files deleted, stream ${i}`
        assert.deepEqual(findFaults(told[i]!, playlist), [], where)
        const [first] = playlist.entries
        assert.ok(first!.dateMs! >= file.endMs - 1, where)
        const whatRemains = told[i]!.entries.filter(({ sequence }) => sequence >= first!.sequence)
        assert.equal(playlist.entries.length, whatRemains.length, where)
        assert.equal(playlist.isEnded, true)
        assert.equal(playlist.type, first!.sequence === 0 ? 'VOD' : undefined)
        // Its times lie where they did on the time axis of the stream.
        assert.ok((await readEntry(restarted, id, playlist.entries.at(-1)!)).equals(newest[i]!), where)
        told[i] = playlist
      }
    }
  })
}

testEachDatabase(
  'a day that is being recorded grows on after its beginning was deleted over a restart',
  async (t, kind) => {
    const { store } = await kind.openStore(t)
    await store.users.insert({ id: 7, email: 'a@example.org', firstName: 'A', lastName: 'B', passwordHash: 'x' })
    const source = { url: 'rtsp://127.0.0.1/', username: null, password: null }
    await store.cameras.insert({ id: 1, ownerId: 7, name: 'Door', type: 'h264', ...source })
    await using scene = new FootageScene(store.segments, store.streams)
    await record(scene)
    const playback = scene.playback()
    const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(80_000), isRecording: true })
    const before = await load(playback, id)
    assert.equal(before.type, 'EVENT')
    const files = await scene.catalog.listSegments(1, at(0), at(300))
    await scene.deleteSegments(files.slice(0, 3).map((file) => file.id))
    await scene.record(700, 760, slow)
    const restarted = scene.playback()
    const after = await load(restarted, id)
    assert.deepEqual(findFaults(before, after), [])
    assert.ok(after.entries.at(-1)!.sequence > before.entries.at(-1)!.sequence + 5)
    const player = new StreamPlayer(restarted, id)
    assert.ok((await player.play()).length > 20)
  },
)

test('when nothing of what was listed is left, what follows has the next numbers', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 130, slow)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: at(0), endMs: at(80_000), isRecording: true })
  const before = await load(playback, id)
  await scene.record(130, 300, slow)
  const files = await scene.catalog.listSegments(1, at(0), at(300))
  await scene.deleteSegments(files.filter(({ startMs }) => startMs < at(130)).map((file) => file.id))
  const after = await load(scene.playback(), id)
  assert.deepEqual(findFaults(before, after), [])
  assert.equal(after.entries[0]!.sequence, before.entries.at(-1)!.sequence + 1)
  assert.ok(after.entries[0]!.discontinuity > before.entries.at(-1)!.discontinuity)
})
