// Tests the published rule for secret scanners with tokens that the server creates.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createLinkToken } from './accounts/account-links.ts'
import { hasRightChecksum } from './checked-token.ts'
import { createOAuthSecret } from './oauth/oauth-secrets.ts'
import { createPersonalToken } from './personal-token.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), 'utf8')
const rule = read('nightjar.gitleaks.toml')
const page = read('secret-scanning.md')
const pattern = /^regex = '''(.*)'''$/m.exec(rule)![1]!
const minEntropy = Number(/^entropy = ([\d.]+)$/m.exec(rule)![1])
const keywords = JSON.parse(/^keywords = (\[.*\])$/m.exec(rule)![1]!) as string[]

/** Scans like gitleaks: requires a keyword, a match of the expression, and enough entropy in the secret group. */
function scan(content: string): string[] {
  if (!keywords.some((keyword) => content.toLowerCase().includes(keyword))) return []
  const found = [...content.matchAll(new RegExp(pattern, 'g'))].map((match) => match[1]!)
  return found.filter((secret) => entropyOf(secret) > minEntropy)
}

function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const letter of value) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / value.length) * Math.log2(count / value.length), 0)
}

const kinds: Record<string, () => string> = {
  njp_: () => createPersonalToken(randomBytes),
  njat_: () => createOAuthSecret('access', randomBytes),
  njrt_: () => createOAuthSecret('refresh', randomBytes),
  njac_: () => createOAuthSecret('code', randomBytes),
  njcs_: () => createOAuthSecret('clientSecret', randomBytes),
  njln_: () => createLinkToken(randomBytes),
}

test('T24: the rule finds tokens of every kind in the places where they usually leak', () => {
  assert.deepEqual(Object.keys(kinds).sort(), [...keywords].sort())
  for (const [prefix, create] of Object.entries(kinds)) {
    for (let i = 0; i < 200; i++) {
      const token = create()
      assert.ok(token.startsWith(prefix) && hasRightChecksum(token))
      for (const place of [
        token,
        `NIGHTJAR_TOKEN=${token}\n`,
        `{"token":"${token}","n":1}`,
        `curl -H 'Authorization: Bearer ${token}' https://h/v1/me/`,
        `Authorization: PersonalAccessToken ${token}\r\n`,
        `https://h/reset/?token=${token}&x=1`,
        `https://app.example/cb?code=${token}#x`,
        `<a href="https://h/invitation/?token=${token}">`,
        `client_secret: ${token}`,
        `see ${token}.`,
        `'${token}', "${token}"`,
      ]) {
        assert.deepEqual([...new Set(scan(place))], [token], place)
      }
    }
  }
})

test('T24: similar texts are not found or have a wrong checksum', () => {
  for (const create of Object.values(kinds)) {
    const token = create()
    for (const [name, other] of Object.entries({
      short: token.slice(0, -1),
      long: `${token}0`,
      longer: `${token}_0`,
      'another prefix': `nj${token}`,
      'upper case': token.replace(/^nj/, 'NJ'),
      'no prefix': token.replace(/^nj\w+?_/, ''),
      'a digit that is none': `${token.slice(0, 20)}-${token.slice(21)}`,
      placeholder: token.replace(/_.*/, (rest) => `_${'x'.repeat(rest.length - 1)}`),
    })) {
      assert.deepEqual(scan(`token = "${other}"`), [], name)
    }
    const wrong = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    assert.deepEqual(scan(wrong), [wrong])
    assert.equal(hasRightChecksum(wrong), false)
  }
  for (const text of ['njp_', 'njp_TOKEN_HERE', 'njat_…', 'sha512-njp_', 'njp_0123456789', 'ghp_'.padEnd(40, 'a1B2')]) {
    assert.deepEqual(scan(text), [], text)
  }
  // Random digits after a prefix do not have a valid checksum.
  for (let i = 0; i < 2000; i++) {
    const digits = createOAuthSecret('access', randomBytes).slice(5, 41)
    assert.equal(hasRightChecksum(`njp_${digits}`), false)
  }
})

test('T24: the repository contains no token, and the page shows the same expression for other scanners', () => {
  const json = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!)
  assert.equal(json.rules[0].options.patterns[0].pattern, `/${pattern}/`)
  for (const prefix of keywords) assert.match(page, new RegExp(`^\\| \`${prefix}\` \\|`, 'm'))
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const places = '{*,{bench,contract,docs,examples,scripts,sdk,server,test,web}/**/*}.{ts,tsx,js,md,json,py,html,toml}'
  const files = globSync(places, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
  assert.ok(files.length > 100)
  for (const file of files)
    assert.deepEqual(scan(readFileSync(join(root, file), 'utf8')).filter(hasRightChecksum), [], file)
})

test('T24: the program on the page distinguishes real tokens from others', async (t) => {
  const program = /```python\n([\s\S]*?)```/.exec(page)![1]!
  const tokens = Object.values(kinds).map((create) => create())
  const child = spawn('python3', ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const started = await new Promise<boolean>((resolve) => {
    child.once('spawn', () => resolve(true))
    child.once('error', () => resolve(false))
  })
  if (!started) {
    t.skip('there is no python3')
    return
  }
  child.stdin.end(
    [...tokens, ...tokens.map((token) => token.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')))].join('\n'),
  )
  const lines = (await text(child.stdout)).trim().split('\n')
  assert.deepEqual(
    lines.map((line) => line.split(' nj')[0]),
    [...tokens.map(() => 'real'), ...tokens.map(() => 'not ours')],
  )
})
