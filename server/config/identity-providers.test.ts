import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadIdentityProviders } from './identity-providers.ts'

const good = { id: 'home', name: 'Home', issuer: 'https://id.example.org/realms/home', client_id: 'nightjar' }

async function load(t: TestContext, content: unknown, files: Record<string, string> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'nightjar-providers-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  const file = join(dir, 'providers.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  const faults: string[] = []
  const providers = await loadIdentityProviders(file, faults)
  return { providers, faults: faults.map((fault) => fault.replaceAll(dir, '')) }
}

test('a provider is read with its secret, without the final line break', async (t) => {
  const ca = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'
  const more = { client_secret_file: 'a.secret', ca_file: 'ca.pem', hosts: ['keys.example.org:8443', '10.0.0.7'] }
  const files = { 'a.secret': 's3 cret\n', 'ca.pem': ca }
  const { providers, faults } = await load(
    t,
    [
      { ...good, ...more },
      { ...good, id: 'b', issuer: 'http://localhost:80' },
    ],
    files,
  )
  assert.deepEqual(faults, [])
  assert.deepEqual(providers[0], {
    id: 'home',
    name: 'Home',
    issuer: good.issuer,
    clientId: 'nightjar',
    clientSecret: 's3 cret',
    linksByAddress: false,
    assignsAddresses: false,
    authMethod: undefined,
    answersByForm: false,
    hosts: more.hosts,
    ca: ca.trimEnd(),
  })
  assert.equal(providers[1]!.clientSecret, undefined)
})

test('every error is reported with its position, and no secret is', async (t) => {
  for (const [content, fault] of [
    ['', /JSON/],
    ['{}', /expected a JSON list/],
    [[1], /provider 1: expected a JSON object/],
    [[{ ...good, id: undefined }], /provider 1: "id" is missing/],
    [[{ ...good, id: '../x' }], /"id": expected .*, got "..\/x"/],
    [[{ ...good, name: 'a\nb' }], /"name": expected/],
    [[{ ...good, issuer: 'http://id.example.org' }], /"issuer": expected an https address/],
    [[{ ...good, issuer: 'https://id.example.org/?realm=1' }], /"issuer"/],
    [[{ ...good, issuer: 'https://user:word@id.example.org/' }], /"issuer"/],
    [[{ ...good, issuer: 'id.example.org' }], /"issuer"/],
    [[{ ...good, client_id: 7 }], /"client_id": expected .*, got 7/],
    [[{ ...good, client_secret: 'hidden' }], /no field "client_secret"; .*client_secret_file/],
    [[{ ...good, client_secret_file: 'none' }], /"client_secret_file": \/none: no such file/],
    [[{ ...good, client_secret_file: 'two' }], /"client_secret_file": \/two: expected one line/],
    [[{ ...good, client_secret_file: 'empty' }], /"client_secret_file": \/empty: expected one line/],
    [[{ ...good, ca_file: 'two' }], /"ca_file": \/two: expected certificates/],
    [[{ ...good, link_by_verified_address: 'true' }], /"link_by_verified_address": expected true or false/],
    [[{ ...good, hosts: ['https://x/'] }], /"hosts": expected/],
    [[{ ...good, hosts: 'x' }], /"hosts": expected/],
    [[{ ...good, scope: 'x' }], /no field "scope"/],
    [[good, { ...good, issuer: 'https://b.example' }], /provider 2: "id" is that of another/],
    [[good, { ...good, id: 'b', issuer: `${good.issuer}/` }], /provider 2: "issuer" is that of another/],
    [Array(21).fill(good), /at most 20/],
  ] as const) {
    const { faults } = await load(t, content, { two: 'hidden\nhidden', empty: '\n' })
    assert.match(faults.join('\n'), fault, JSON.stringify(content))
    assert.equal(faults.length, 1, faults.join('\n'))
    assert.doesNotMatch(faults.join('\n'), /hidden/)
  }
  const { faults } = await load(t, [{ id: 'A', name: '', hosts: 1 }])
  assert.equal(faults.length, 5, faults.join('\n'))
})
