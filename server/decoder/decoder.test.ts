// Tests with the real process and real images. The test images are drawn and inspected in a separate process, too.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeSlowJpeg } from '../../test/hostile/slow-jpeg.ts'
import { type DrawnImage, type InspectedImage, quarterColors } from '../../test/support/decoder/test-image.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import { Decoder, type DecoderOptions } from './decoder.ts'
import type { DecodeRequest } from './decoder-protocol.ts'
import { noIsolation } from './isolation/isolation.ts'
import { openIsolation } from './isolation/open-isolation.ts'

const program = fileURLToPath(new URL('../../test/support/decoder/test-image.ts', import.meta.url))

async function draw(codec: 'h264' | 'mjpeg', width: number, height: number, colors = 'unset'): Promise<DecodeRequest> {
  const args = [program, 'draw', codec, String(width), String(height), colors]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
  const { config, data } = JSON.parse(stdout) as DrawnImage
  return { codec, config: Buffer.from(config, 'base64'), data: Buffer.from(data, 'base64'), sizes: [{}] }
}

async function inspect(jpeg: Uint8Array): Promise<InspectedImage> {
  const running = promisify(execFile)(process.execPath, [program, 'inspect'])
  running.child.stdin!.end(jpeg)
  return JSON.parse((await running).stdout) as InspectedImage
}

const isolation = await openIsolation({ mode: 'auto' })

/** Options for a process that can be stopped by a signal: in a sandbox, the known process is bubblewrap. */
const stoppable = { isolation: noIsolation }

const openDecoder = (options: Partial<DecoderOptions> = {}) =>
  new Decoder({ log: silentLogger, clock: systemClock, isolation, processes: 1, ...options })

const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind

/** Only Linux tells. */
function isStopped(pid: number): boolean {
  return process.platform !== 'linux' || /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

suite('decoder', { concurrency: 2 }, () => {
  test('one decode gives a JPEG of each size with its aspect ratio and never enlarged', async () => {
    await using decoder = openDecoder()
    const request = await draw('h264', 320, 180)
    const sizes = [{}, { maxWidth: 160 }, { maxHeight: 45 }, { maxWidth: 9999, maxHeight: 9999 }, { maxWidth: 101 }]
    const jpegs = await decoder.decode({ ...request, sizes })
    const seen = await Promise.all(jpegs.map(inspect))
    assert.deepEqual(
      seen.map(({ width, height }) => `${width}x${height}`),
      ['320x180', '160x90', '80x45', '320x180', '101x57'],
    )
    assert.equal(decoder.stats().decodes, 1)
    assert.equal(decoder.stats().images, 5)
  })

  for (const [colors, height] of [
    ['bt601', 480],
    ['bt709', 480],
    ['unset', 480],
    ['unset', 720],
  ] as const) {
    test(`colors match the source: ${colors}, ${height} lines`, async () => {
      await using decoder = openDecoder()
      const [jpeg] = await decoder.decode({ ...(await draw('h264', 640, height, colors)), sizes: [{ maxWidth: 320 }] })
      for (const [i, color] of (await inspect(jpeg!)).quarters.entries()) {
        for (const [channel, value] of color.entries()) {
          const expected = quarterColors[i]![channel]!
          assert.ok(Math.abs(value - expected) <= 6, `quarter ${i}: expected ${quarterColors[i]}, got ${color}`)
        }
      }
    })
  }

  test('frames of a JPEG camera are returned unchanged where they fit and scaled otherwise', async () => {
    await using decoder = openDecoder()
    const request = await draw('mjpeg', 64, 48)
    assert.deepEqual(await decoder.decode(request), [request.data])
    assert.equal(decoder.stats().isRunning, false)
    const [same, small] = await decoder.decode({ ...request, sizes: [{ maxWidth: 64 }, { maxWidth: 32 }] })
    assert.deepEqual(Buffer.from(same!), request.data)
    const { width, height, quarters } = await inspect(small!)
    assert.deepEqual([width, height], [32, 24])
    assert.ok(Math.abs(quarters[0]![0] - quarterColors[0]![0]) <= 6)
  })

  test('an invalid frame is reported as corrupt, and the same process decodes the next one', async () => {
    await using decoder = openDecoder()
    const request = await draw('h264', 64, 48)
    await decoder.decode(request)
    const { pid } = decoder.stats()
    for (let seed = 0; seed < 20; seed++) {
      const noise = Uint8Array.from({ length: 200 }, (_, i) => (i * 197 + seed * 7919 + ((i * i) >> 3)) & 0xff)
      await assert.rejects(decoder.decode({ ...request, data: noise }), isKind('corrupt'))
      await decoder.decode({ ...request, config: noise }).catch(() => {})
    }
    await assert.rejects(decoder.decode({ ...request, data: new Uint8Array() }), isKind('corrupt'))
    assert.equal((await decoder.decode(request)).length, 1)
    assert.equal(decoder.stats().pid, pid)
    assert.equal(decoder.stats().crashes, 0)
  })

  test('a killed process loses one image; waiting requests are served by the next process', async () => {
    await using decoder = openDecoder(stoppable)
    const request = await draw('h264', 64, 48)
    await decoder.decode(request)
    const pid = decoder.stats().pid!
    process.kill(pid, 'SIGSTOP') // so that the process is certainly decoding
    const lost = assert.rejects(decoder.decode(request), isKind('unavailable'))
    const waiting = [decoder.decode(request), decoder.decode(request)]
    process.kill(pid, 'SIGKILL')
    await lost
    for (const jpegs of await Promise.all(waiting)) assert.equal(jpegs.length, 1)
    assert.notEqual(decoder.stats().pid, pid)
    assert.equal(decoder.stats().crashes, 1)
  })

  test('a process that hangs is killed after the timeout and replaced', async () => {
    const clock = new TestClock()
    await using decoder = openDecoder({ ...stoppable, clock, timeoutMs: 8000 })
    const request = await draw('h264', 64, 48)
    await decoder.decode(request)
    const pid = decoder.stats().pid!
    process.kill(pid, 'SIGSTOP')
    // Until then it is ready to run, as one that gets no processor.
    await until(() => isStopped(pid))
    const hanging = assert.rejects(decoder.decode(request), isKind('unavailable'))
    await clock.advance(7999)
    assert.ok(isAlive(pid))
    await clock.advance(1)
    await hanging
    assert.equal((await decoder.decode(request)).length, 1)
    await until(() => !isAlive(pid))
  })

  test('a process that gets no processor is waited for six times as long', {
    skip: existsSync('/proc/self/schedstat') ? false : 'this system does not count how long processes wait',
  }, async (t) => {
    const clock = new TestClock()
    await using decoder = openDecoder({ ...stoppable, clock, timeoutMs: 8000 })
    await decoder.decode(await draw('h264', 64, 48))
    const pid = decoder.stats().pid!
    const processor = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]!
    await promisify(execFile)('taskset', ['-a', '-c', '-p', processor, String(pid)])
    for (let i = 0; i < 3; i++) {
      // Each has a session of its own, as the decoder process has: Linux may give each session the same share.
      const options = { stdio: 'ignore', detached: true } as const
      const other = spawn('taskset', ['-c', processor, process.execPath, '-e', 'for (;;);'], options)
      t.after(() => other.kill('SIGKILL'))
    }
    const data = writeSlowJpeg(60_000)
    const hanging = decoder.decode({ codec: 'mjpeg', config: new Uint8Array(), data, sizes: [{ maxWidth: 320 }] })
    const lost = assert.rejects(hanging, isKind('unavailable'))
    await systemClock.sleep(1000)
    await clock.advance(6400)
    await systemClock.sleep(1000)
    await clock.advance(1600)
    assert.equal(decoder.stats().crashes, 0, 'it had a quarter of a processor at most')
    await clock.advance(5 * 8000)
    await lost
    assert.equal(decoder.stats().crashes, 1)
  })

  test('requests beyond the queue limit are rejected immediately', async () => {
    await using decoder = openDecoder({ maxPending: 2 })
    const request = await draw('h264', 64, 48)
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => decoder.decode(request)))
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
    )
    assert.equal(decoder.stats().refused, 2)
  })

  test('an idle process is stopped and started again when needed', async () => {
    await using decoder = openDecoder({ idleMs: 50 })
    const request = await draw('h264', 64, 48)
    await decoder.decode(request)
    await until(() => !decoder.stats().isRunning)
    assert.equal((await decoder.decode(request)).length, 1)
    assert.equal(decoder.stats().crashes, 0)
  })

  test('closing rejects waiting requests and leaves no process', async () => {
    const decoder = openDecoder()
    const request = await draw('h264', 64, 48)
    await decoder.decode(request)
    const pid = decoder.stats().pid!
    const waiting = [decoder.decode(request), decoder.decode(request)]
    const rejected = waiting.map((promise) => assert.rejects(promise, isKind('unavailable')))
    await decoder.close()
    await Promise.all(rejected)
    assert.throws(() => process.kill(pid, 0))
    await assert.rejects(decoder.decode(request), isKind('unavailable'))
  })

  test('an endless key frame delays only its own camera', async () => {
    await using decoder = openDecoder({ processes: 2 })
    const small = await draw('h264', 320, 180)
    const hanging: DecodeRequest = {
      ...{ codec: 'mjpeg', config: new Uint8Array(), data: writeSlowJpeg(60_000), sizes: [{ maxWidth: 320 }] },
    }
    const good = [1, 2, 3, 4]
    for (const source of good) await decoder.decode({ ...small, source })
    const hostile = [11, 12, 13]
    const asked = hostile.map((source) => decoder.decode({ ...hanging, source }).catch((error: AppError) => error))
    // Alone, an image takes about 20 ms; a frame that hangs has 5 s.
    for (let round = 0; round < 10; round++) {
      await Promise.all(good.map((source) => decoder.decode({ ...small, source })))
      await systemClock.sleep(50)
    }
    assert.equal(decoder.stats().crashes, 0, 'the hanging frames have not reached the timeout')
    assert.ok(isKind('unavailable')(await asked[0]))
    const again = decoder.decode({ ...hanging, source: 11 })
    await assert.rejects(again, /stopped the image decoder/, 'the request has to wait')
  })

  test('hanging frames of several cameras do not affect frames of other cameras', async () => {
    await using decoder = openDecoder({ ...stoppable, processes: 2 })
    const small = await draw('h264', 64, 48)
    for (const source of [1, 2]) await decoder.decode({ ...small, source })
    const stopped = decoder.stats().pid!
    process.kill(stopped, 'SIGSTOP')
    const lost = assert.rejects(decoder.decode({ ...small, source: 1 }), isKind('unavailable'))
    for (let i = 0; i < 5; i++) assert.equal((await decoder.decode({ ...small, source: 2 })).length, 1)
    await lost
    await assert.rejects(decoder.decode({ ...small, source: 1 }), /stopped the image decoder/)
    await until(() => !isAlive(stopped))
  })
})
