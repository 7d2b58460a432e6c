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

/** Sleeps until told to wake. */
function open() {
  const told: string[] = []
  let wake = () => {}
  const sleep: Clock['sleep'] = (_, signal) =>
    new Promise((resolve, reject) => {
      wake = resolve
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const teller = new StatusReporter({
    onStatus: (status: SessionStatus) =>
      told.push(status.state === 'offline' ? status.detail : status.state === 'online' ? 'online' : 'connecting'),
    clock: { ...systemClock, sleep },
    log: silentLogger,
    signal: new AbortController().signal,
  })
  return { told, teller, wake: () => wake() }
}

test('online is told once, and again when the format changes', () => {
  const { told, teller } = open()
  for (const width of [64, 64, 80, 80]) teller.online(formatOf(width))
  assert.deepEqual(told, ['connecting', 'online', 'online'])
})

test('a loss that the next attempt mends is not told', async () => {
  const { told, teller } = open()
  teller.online(formatOf(64))
  for (const onlineMs of [60_000, 5000, 1000]) {
    teller.lost(lost, onlineMs)
    teller.online(formatOf(64))
  }
  await settled()
  assert.deepEqual(told, ['connecting', 'online'])
})

test('a loss is told when the next attempt fails, or takes too long, or the session was short', async () => {
  const failing = open()
  failing.teller.online(formatOf(64))
  failing.teller.lost(lost, 60_000)
  failing.teller.failed(refused)
  await settled()
  assert.deepEqual(failing.told, ['connecting', 'online', 'Refused.'])

  const hanging = open()
  hanging.teller.online(formatOf(64))
  hanging.teller.lost(lost, 60_000)
  hanging.wake()
  await settled()
  assert.deepEqual(hanging.told, ['connecting', 'online', 'Lost.'])

  const short = open()
  short.teller.online(formatOf(64))
  short.teller.lost(lost, 500)
  short.teller.online(formatOf(64))
  assert.deepEqual(short.told, ['connecting', 'online', 'Lost.', 'online'])
})

test('an outage is told once for each reason', () => {
  const { told, teller } = open()
  for (const error of [refused, refused, lost, refused]) teller.failed(error)
  assert.deepEqual(told, ['connecting', 'Refused.', 'Lost.', 'Refused.'])
})
