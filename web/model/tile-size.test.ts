import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTileSize } from './tile-size.ts'

test('images are as large as their tiles, in one of a few sizes', () => {
  assert.equal(findTileSize(360, 1, 24).width, 480)
  assert.equal(findTileSize(360, 3, 24).width, 640)
  assert.equal(findTileSize(360, 1, 25).width, 320)
  assert.equal(findTileSize(360, 3, 25).width, 320)
  assert.equal(findTileSize(600, 1, 30).width, 320)
  assert.equal(findTileSize(1280, 1, 30).width, 320)
  assert.equal(findTileSize(1280, 2, 30).width, 480)
  assert.equal(findTileSize(3840, 1, 30).width, 320)
  assert.equal(findTileSize(1280, 1, 6).width, 480)
  assert.equal(findTileSize(1280, 1, 7).width, 320)
  assert.equal(findTileSize(1392, 1, 3).width, 480)
  assert.equal(findTileSize(1392, 1, 2).width, 960)
  assert.equal(findTileSize(1392, 1, 1).width, 960)
  assert.equal(findTileSize(340, 1, 1).width, 480)
  assert.equal(findTileSize(0, 1, 30).width, 320)
})
