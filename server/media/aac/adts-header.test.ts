import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { adtsHeaderBytes, writeAdtsHeader } from '../mpegts/adts.ts'
import { findAdtsHeader } from './adts-header.ts'
import { writeAudioSpecificConfig } from './audio-specific-config.ts'

test('a written header is parsed to the same values', () => {
  const rates = fc.constantFrom(48000, 44100, 16000, 8000, 96000, 7350)
  fc.assert(
    fc.property(
      rates,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 8000 }),
      (sampleRate, channels, bytes) => {
        const config = writeAudioSpecificConfig({ sampleRate, channels })
        const header = findAdtsHeader(writeAdtsHeader(config, bytes))
        assert.deepEqual(header, { headerBytes: adtsHeaderBytes, blockBytes: adtsHeaderBytes + bytes, config })
      },
    ),
  )
})

test('the header length includes a checksum; other bytes are not a header', () => {
  const header = writeAdtsHeader(writeAudioSpecificConfig({ sampleRate: 48000, channels: 2 }), 100)
  header[1]! &= 0xfe
  assert.equal(findAdtsHeader(header)?.headerBytes, 9)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => void findAdtsHeader(bytes)))
  assert.equal(findAdtsHeader(Uint8Array.of(0xff, 0xf1, 0x4c)), undefined)
})
