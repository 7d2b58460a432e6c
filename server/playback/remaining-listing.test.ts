import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CheckedPlaylist, checkNextPlaylist, checkPlaylist } from '../../test/playback/check-playlist.ts'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { readBytes, StreamPlayer } from '../../test/playback/stream-player.ts'
import { testEachDatabase } from '../../test/postgres/each-database.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import type { Playback } from './playback.ts'

const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const
const at = (seconds: number) => t0 + seconds * 1000

const slow = { frameRate: 5, gopFrames: 5 } as const

/** Three runs of several files each, one of another size, with gaps between them. */
async function record(scene: FootageScene): Promise<void> {
  await scene.record(0, 250, slow)
  await scene.lose('camera_unreachable')
  await scene.record(270, 400, { ...slow, width: 80, height: 64, audioSampleRate: 16000 })
  await scene.lose('no_frames')
  await scene.record(400, 700, slow)
}

async function load(playback: Playback, id: string, speed = 1): Promise<CheckedPlaylist> {
  const playlist = checkPlaylist(await playback.playlist(id), { speed })
  assert.deepEqual(playlist.faults, [])
  return playlist
}

/**
 * Checks what must not change for a player that has the playlist `before`. Entries at the front may be missing, because
 * they were deleted.
 */
function findFaults(before: CheckedPlaylist, next: CheckedPlaylist): string[] {
  return checkNextPlaylist({ ...before, type: undefined }, { ...next, type: undefined }).filter(
    // The initialization section of a deleted file is replaced by another one with the same content.
    (fault) => !fault.startsWith('the map of entry'),
  )
}

const readEntry = async (playback: Playback, id: string, { uri, range }: CheckedPlaylist['entries'][number]) =>
  readBytes(await playback.openBytes(id, uri, range && `bytes=${range.offset}-${range.offset + range.bytes - 1}`))

for (const speed of [1, 4]) {
  test(`the playlist of a day keeps its numbers and times when its beginning is deleted during a restart, at speed ${speed}`, async () => {
    await using scene = new FootageScene()
    await record(scene)
    await scene.stop()
    scene.clock.ms = at(2000)
    const files = await scene.catalog.listSegments(1, at(0), at(689))
    assert.ok(files.length > 10)
    const ids: string[] = []
    const listed: CheckedPlaylist[] = []
    const playback = scene.playback()
    // One of the streams begins where its first file is nearly over.
    for (const startS of [5, 59.2]) {
      const { id } = await playback.createStream({ ...user, startMs: at(startS), endMs: at(690), isRecording: false })
      if (speed !== 1) await playback.setSpeed(id, speed)
      ids.push(id)
      listed.push(await load(playback, id, speed))
    }
    const newest = await Promise.all(ids.map((id, i) => readEntry(playback, id, listed[i]!.entries.at(-1)!)))
    for (const [deleted, file] of files.slice(0, -1).entries()) {
      await scene.deleteSegments([file.id])
      const restarted = scene.playback()
      for (const [i, id] of ids.entries()) {
        const playlist = await load(restarted, id, speed)
        const where = `${deleted + 1} files deleted, stream ${i}`
        assert.deepEqual(findFaults(listed[i]!, playlist), [], where)
        const [first] = playlist.entries
        assert.ok(first!.dateMs! >= file.endMs - 1, where)
        const remaining = listed[i]!.entries.filter(({ sequence }) => sequence >= first!.sequence)
        assert.equal(playlist.entries.length, remaining.length, where)
        assert.equal(playlist.isEnded, true)
        assert.equal(playlist.type, first!.sequence === 0 ? 'VOD' : undefined)
        // The entries keep their times on the time axis of the stream.
        assert.ok((await readEntry(restarted, id, playlist.entries.at(-1)!)).equals(newest[i]!), where)
        listed[i] = playlist
      }
    }
  })
}

testEachDatabase(
  'the playlist of the current day keeps growing after its beginning is deleted during a restart',
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

test('when no listed entry remains, later entries get the next numbers', async () => {
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
