import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTileSize } from './tile-size.ts'

test('pictures are as large as the tiles that show them, in one of a few sizes', () => {
  assert.equal(findTileSize(360, 1, 'many').width, 480)
  assert.equal(findTileSize(360, 3, 'many').width, 640)
  assert.equal(findTileSize(600, 1, 'many').width, 320)
  assert.equal(findTileSize(1280, 1, 'many').width, 320)
  assert.equal(findTileSize(1280, 2, 'many').width, 480)
  assert.equal(findTileSize(3840, 1, 'many').width, 320)
  assert.equal(findTileSize(1280, 1, 'few').width, 480)
  assert.equal(findTileSize(0, 1, 'many').width, 320)
})
