import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, NightjarError } from '../../../sdk/index.ts'
import { CameraMaker } from './create-camera.ts'

/** A server with cameras that can lose requests and responses. */
function openServer(lost: { requests?: number; creations?: number; lists?: number[]; recordings?: number }) {
  const names = ['Yard']
  const recorded = new Set<number>()
  const gone = () => new NightjarError({ status: 0, title: 'network_error', detail: 'lost' })
  let lists = 0
  const cameras = {
    async *listAll() {
      if (lost.lists?.includes(++lists)) throw gone()
      yield* names.map((name, index) => ({ id: index + 1, name }))
    },
    async create({ name, url }: { name: string; url: string }) {
      if (url === 'bad') throw new NightjarError({ status: 400, title: 'invalid', detail: 'no address' })
      if ((lost.requests ?? 0) > 0) {
        lost.requests!--
        throw gone()
      }
      names.push(name)
      if ((lost.creations ?? 0) > 0) {
        lost.creations!--
        throw gone()
      }
      return { id: names.length }
    },
    async enableRecording(id: number) {
      recorded.add(id)
      if ((lost.recordings ?? 0) > 0) {
        lost.recordings!--
        throw gone()
      }
    },
  }
  return { names, recorded, maker: new CameraMaker({ cameras } as unknown as Client) }
}

const input = { camera: { name: 'Yard', url: 'rtsp://camera/' }, recording: { retention: 'P7D' } }

test('a camera is made, although there is one of the same name', async () => {
  const { names, recorded, maker } = openServer({})
  assert.equal(await maker.make(input), 2)
  assert.deepEqual([names.length, [...recorded]], [2, [2]])
})

test('two tries at the same time make one camera', async () => {
  const { names, maker } = openServer({})
  assert.deepEqual(await Promise.all([maker.make(input), maker.make(input)]), [2, 2])
  assert.equal(names.length, 2)
})

test('when the answer is lost, the camera that was made is found', async () => {
  const { names, maker } = openServer({ creations: 1 })
  assert.equal(await maker.make(input), 2)
  assert.equal(names.length, 2)
})

test('when the list cannot be read either, the next try finds it', async () => {
  const { names, maker } = openServer({ creations: 1, lists: [2] })
  await assert.rejects(maker.make(input), { status: 0 })
  assert.equal(await maker.make(input), 2)
  assert.equal(names.length, 2)
})

test('when the request itself was lost, the next try makes it', async () => {
  const { names, maker } = openServer({ requests: 1 })
  await assert.rejects(maker.make(input), { status: 0 })
  assert.equal(await maker.make(input), 2)
  assert.equal(names.length, 2)
})

test('when only recording was not turned on, the next try does just that', async () => {
  const { names, recorded, maker } = openServer({ recordings: 1 })
  await assert.rejects(maker.make(input), { status: 0 })
  assert.equal(await maker.make(input), 2)
  assert.deepEqual([names.length, [...recorded]], [2, [2]])
})

test('what is refused can be mended, and another camera be made', async () => {
  const { names, maker } = openServer({})
  await assert.rejects(maker.make({ ...input, camera: { name: 'Attic', url: 'bad' } }), { status: 400 })
  assert.equal(await maker.make({ ...input, camera: { name: 'Attic', url: 'rtsp://other/' } }), 2)
  assert.deepEqual(names, ['Yard', 'Attic'])
})
