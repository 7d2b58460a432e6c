import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseProfiles } from './onvif-choice.ts'

const profile = (width: number, height: number, rest: { bitRateKbps?: number; isUsable?: boolean } = {}) => ({
  isUsable: true,
  width,
  height,
  bitRateKbps: undefined,
  ...rest,
})

test('the largest is the main stream, one for a tile the sub-stream', () => {
  assert.deepEqual(chooseProfiles([profile(640, 360), profile(2560, 1440), profile(320, 180), profile(1280, 720)]), [
    'sub',
    'main',
    undefined,
    undefined,
  ])
})

test('without a small one, the smallest; of equals the first, or the one of more bits', () => {
  assert.deepEqual(chooseProfiles([profile(1920, 1080), profile(1280, 960), profile(1280, 720)]), [
    'main',
    undefined,
    'sub',
  ])
  assert.deepEqual(chooseProfiles([profile(1920, 1080), profile(1920, 1080)]), ['main', undefined])
  const rates = [profile(1920, 1080, { bitRateKbps: 512 }), profile(1920, 1080, { bitRateKbps: 4096 })]
  assert.deepEqual(chooseProfiles(rates), [undefined, 'main'])
})

test('what cannot be used is not chosen', () => {
  assert.deepEqual(chooseProfiles([profile(3840, 2160, { isUsable: false }), profile(640, 480)]), [undefined, 'main'])
  assert.deepEqual(chooseProfiles([]), [])
})
