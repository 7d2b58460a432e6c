import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from './base/clock.ts'
import { AppError, type ErrorKind } from './base/error.ts'
import { silentLogger } from './base/log.ts'
import type { AnswerTo, Question } from './cameras/worker-protocol.ts'
import type { DetectedStream } from './ingest/detection/detect-stream.ts'
import { createAddressGuard } from './ingest/network/address-guard.ts'
import { type DetectorLimits, StreamDetector } from './stream-detector.ts'

const source = { url: 'rtsp://camera.example/', username: null, password: null }
const keyFrame = {
  width: 1280,
  height: 720,
  codecString: 'avc1.42c01e',
  config: new Uint8Array(),
  data: new Uint8Array(),
}
const found: DetectedStream = {
  transport: 'rtsp_tcp',
  video: { codec: 'h265', keyFrame },
  audio: undefined,
  audioProblem: undefined,
  problem: undefined,
}

/** Workers that record questions and answer when the test says so. */
function open(
  limits: Partial<DetectorLimits> = {},
  decode = async () => [Uint8Array.of(1)],
  isOwner = async () => false,
) {
  const asked: { question: Question; answer(stream: DetectedStream): void; fail(error: Error): void }[] = []
  const workers = {
    async ask<Q extends Question>(question: Q, signal: AbortSignal): Promise<AnswerTo<Q>> {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<AnswerTo<Q>>()
      signal.addEventListener('abort', () => reject(signal.reason))
      asked.push({ question, answer: (stream) => resolve({ kind: 'stream', stream } as AnswerTo<Q>), fail: reject })
      return promise
    },
  }
  const clock = { ...systemClock, monotonicMs: () => 0 }
  const addressCheck = createAddressGuard({ allowLoopback: false })
  const detector = new StreamDetector({
    workers,
    decoder: { decode },
    addressCheck,
    isOwner,
    mayAdd: async () => true,
    clock,
    log: silentLogger,
    limits,
  })
  return { detector, asked }
}

test("a forbidden URL is refused with the message of a camera's status", () => {
  const { detector, asked } = open()
  const message = 'The URL of this camera is not allowed: it leads to this server or a reserved network.'
  assert.throws(() => detector.checkAddress('rtsp://0x7f.1/x'), {
    kind: 'invalid',
    message,
    fields: { url: [message] },
  })
  assert.throws(() => detector.checkAddress('http://192.168.1.9:25/x'), {
    message: 'Port 25 is not allowed for cameras.',
  })
  detector.checkAddress('rtsp://camera.example/x')
  assert.equal(asked.length, 0)
})

const by = (userId: number, signal = new AbortController().signal) => ({ userId, signal })
const isKind = (kind: ErrorKind) => (error: unknown) => error instanceof AppError && error.kind === kind

test('concurrent tests are limited per user and in total, and a finished test makes room', async () => {
  const { detector, asked } = open({ perUser: 2, inAll: 3 })
  const looks = [detector.detect(source, by(1)), detector.detect(source, by(1)), detector.detect(source, by(2))]
  await assert.rejects(detector.detect(source, by(1)), isKind('rate_limited'))
  await assert.rejects(detector.readDevice(source, by(3)), isKind('unavailable'))
  await turn()
  assert.equal(asked.length, 3, 'refused tests do not reach a worker')
  asked[0]!.answer(found)
  await looks[0]
  const next = detector.detect(source, by(3))
  await turn()
  for (const { answer } of asked) answer(found)
  await Promise.all([...looks, next])
})

test('the tests of a user per minute are limited, whatever their kind', async () => {
  const { detector, asked } = open({ perUserAndMinute: 2 })
  for (let i = 0; i < 2; i++) {
    const look = detector.detect(source, by(1))
    await turn()
    asked[i]!.answer(found)
    await look
  }
  await assert.rejects(detector.readDevice(source, by(1)), isKind('rate_limited'))
  await assert.rejects(detector.countTry(1), isKind('rate_limited'), 'adding a camera counts like a test')
  await detector.countTry(2)
  assert.equal(asked.length, 2)
})

test('only owners of the server search its network', async () => {
  const { detector, asked } = open()
  await assert.rejects(detector.discover(by(1)), isKind('forbidden'))
  assert.equal(asked.length, 0)
})

test('only owners of the server have a host searched for its stream', async () => {
  const host = { ...source, isHostAlone: true }
  const { detector, asked } = open()
  await assert.rejects(detector.detect(host, by(1)), isKind('invalid'))
  assert.equal(asked.length, 0)
  const owners = open({}, undefined, async () => true)
  const look = owners.detector.detect(host, by(1))
  await turn()
  const [first] = owners.asked
  assert.ok(first?.question.kind === 'stream' && first.question.target.isHostAlone)
  first.answer(found)
  await look
})

test('an owner of the server is not limited and sees all details', async () => {
  const { detector, asked } = open({ perUserAndMinute: 1 }, undefined, async () => true)
  for (let i = 0; i < 9; i++) await detector.countTry(1)
  const look = detector.detect(source, by(1))
  await turn()
  const [first] = asked
  assert.ok(first?.question.kind === 'stream' && first.question.target.canSeeProblems)
  first.answer(found)
  await look
})

test('an unknown stream type does not prevent a camera from being added', async () => {
  const { detector, asked } = open()
  const types = [0, 1, 2].map((userId) => detector.findType(source, by(userId)))
  await turn()
  asked[0]!.answer(found)
  asked[1]!.answer({ ...found, video: undefined })
  asked[2]!.fail(new AppError('unavailable', 'the worker died'))
  assert.deepEqual(await Promise.all(types), ['h265', undefined, undefined])
  assert.deepEqual(asked[0]!.question, {
    kind: 'stream',
    account: 0,
    target: { url: source.url, username: undefined, password: undefined, depth: 'type', canSeeProblems: false },
  })
})

test('an aborted test is cancelled in the worker and makes room', async () => {
  const { detector, asked } = open({ perUser: 1 })
  const gone = new AbortController()
  const look = detector.detect(source, by(1, gone.signal))
  gone.abort(new Error('aborted'))
  await assert.rejects(look, /aborted/)
  await assert.rejects(detector.findType(source, by(1, gone.signal)), /aborted/)
  const next = detector.detect(source, by(1))
  await turn()
  asked.at(-1)!.answer(found)
  await next
})

test('a snapshot is returned with its size, and a missing snapshot is not a failure', async () => {
  const ask = async (decode: () => Promise<Uint8Array<ArrayBuffer>[]>, stream = found) => {
    const { detector, asked } = open({}, decode)
    const look = detector.detect(source, by(1))
    await turn()
    asked[0]!.answer(stream)
    return (await look).snapshot
  }
  assert.deepEqual(await ask(async () => [Uint8Array.of(1)]), { jpeg: Uint8Array.of(1), width: 640, height: 360 })
  const broken = () => Promise.reject(new AppError('corrupt', 'no image'))
  assert.equal(await ask(broken), undefined)
  assert.equal(
    await ask(async () => [new Uint8Array(2 * 1024 * 1024)]),
    undefined,
    'an image that is too large is not returned',
  )
  assert.equal(await ask(broken, { ...found, video: { codec: 'h264', keyFrame: undefined } }), undefined)
})
