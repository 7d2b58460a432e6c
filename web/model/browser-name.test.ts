import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameBrowser } from './browser-name.ts'

const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0'

test('browser and system are named as people know them', () => {
  for (const [userAgent, name] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140, Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 'Chrome 138, Windows'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/138.0.3351.55`, 'Edge 138, Windows'],
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`, 'Chrome 138, Android'],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-S901B) SamsungBrowser/28.0 ${chrome} Safari/537.36`,
      'Samsung Internet 28, Android',
    ],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${safari} Version/18.5 Safari/605.1.15`, 'Safari 18, macOS'],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${safari} Version/18.5 Mobile/15E148 Safari/604.1`,
      'Safari 18, iPhone',
    ],
    [
      `Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) ${safari} CriOS/138.0 Mobile/15E148 Safari/604.1`,
      'Chrome 138, iPad',
    ],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['', ''],
  ])
    assert.equal(nameBrowser(userAgent!), name)
})
