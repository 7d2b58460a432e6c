import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import { createJpegFormat } from '../../media/jpeg/jpeg-header.ts'
import { CameraError } from '../network/camera-error.ts'
import { type SessionStatus, StatusReporter } from './status-reporter.ts'

const formatOf = (width: number) => ({ video: createJpegFormat({ width, height: 10 }), audio: undefined })
const lost = new CameraError('camera_unreachable', 'Lost.')
const refused = new CameraError('camera_unreachable', 'Refused.')
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Opens a reporter with a clock that sleeps until the test wakes it. */
function open() {
  const reported: string[] = []
  let wake = () => {}
  const sleep: Clock['sleep'] = (_, signal) =>
    new Promise((resolve, reject) => {
      wake = resolve
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const reporter = new StatusReporter({
    onStatus: (status: SessionStatus) =>
      reported.push(status.state === 'offline' ? status.detail : status.state === 'online' ? 'online' : 'connecting'),
    clock: { ...systemClock, sleep },
    log: silentLogger,
    signal: new AbortController().signal,
  })
  return { reported, reporter, wake: () => wake() }
}

test('online is reported once, and again when the format changes', () => {
  const { reported, reporter } = open()
  for (const width of [64, 64, 80, 80]) reporter.online(formatOf(width))
  assert.deepEqual(reported, ['connecting', 'online', 'online'])
})

test('a loss that the next attempt repairs is not reported', async () => {
  const { reported, reporter } = open()
  reporter.online(formatOf(64))
  for (const onlineMs of [60_000, 5000, 1000]) {
    reporter.lost(lost, onlineMs)
    reporter.online(formatOf(64))
  }
  await settled()
  assert.deepEqual(reported, ['connecting', 'online'])
})

test('a loss is reported when the next attempt fails, or takes too long, or the session was short', async () => {
  const failing = open()
  failing.reporter.online(formatOf(64))
  failing.reporter.lost(lost, 60_000)
  failing.reporter.failed(refused)
  await settled()
  assert.deepEqual(failing.reported, ['connecting', 'online', 'Refused.'])

  const hanging = open()
  hanging.reporter.online(formatOf(64))
  hanging.reporter.lost(lost, 60_000)
  hanging.wake()
  await settled()
  assert.deepEqual(hanging.reported, ['connecting', 'online', 'Lost.'])

  const short = open()
  short.reporter.online(formatOf(64))
  short.reporter.lost(lost, 500)
  short.reporter.online(formatOf(64))
  assert.deepEqual(short.reported, ['connecting', 'online', 'Lost.', 'online'])
})

test('an outage is reported once for each reason', () => {
  const { reported, reporter } = open()
  for (const error of [refused, refused, lost, refused]) reporter.failed(error)
  assert.deepEqual(reported, ['connecting', 'Refused.', 'Lost.', 'Refused.'])
})
