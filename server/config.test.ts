import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppError } from './base/error.ts'
import { writeConfigurationReference } from './config/reference.ts'
import { type ConfigSources, defaultPublicUrl, loadConfig } from './config.ts'
import { findMemoryBytes } from './memory-shares.ts'

async function createSources(t: TestContext): Promise<{ folder: string; sources: ConfigSources }> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-config-'))
  t.after(() => rm(folder, { recursive: true }))
  const surroundings = { programDir: folder, hostName: 'night_owl.lan', cores: 4 }
  return { folder, sources: { flags: {}, env: {}, cwd: folder, surroundings } }
}

async function faultsOf(sources: ConfigSources): Promise<string[]> {
  const error = await loadConfig(sources).then(
    () => assert.fail('the configuration was accepted'),
    (reason: AppError) => reason,
  )
  assert.equal(error.kind, 'invalid')
  return error.message.split('\n').slice(1)
}

test('defaults', async (t) => {
  const { folder, sources } = await createSources(t)
  assert.deepEqual(await loadConfig(sources), {
    data: join(folder, 'data'),
    archive: [{ folder: join(folder, 'data', 'archive'), weight: 1 }],
    archiveMax: undefined,
    minFree: undefined,
    database: join(folder, 'data', 'nightjar.db'),
    secretKeyFile: undefined,
    host: '0.0.0.0',
    port: 8443,
    publicUrl: undefined,
    tlsCert: undefined,
    tlsKey: undefined,
    behindProxy: false,
    trustedProxies: [],
    allowedHosts: ['night_owl.lan', 'night_owl.lan.local'],
    rateLimit: 3000,
    tokenRateLimit: 300,
    accessTokenSeconds: 36_000,
    refreshTokenDays: 30,
    grantDays: 365,
    sessionDays: 30,
    refreshReuseLeewaySeconds: 10,
    noPasswordGrant: false,
    signUp: 'invitation',
    identityProviders: undefined,
    smtpUrl: undefined,
    smtpCa: undefined,
    mailFrom: undefined,
    auditDays: 365,
    eventDays: 365,
    eventLimit: 100_000,
    outageSeconds: 15,
    allowLoopbackCameras: false,
    guestsAddCameras: false,
    cameraLimit: 100,
    cameraNetworks: undefined,
    nameServers: undefined,
    isolation: 'auto',
    workers: 3,
    memoryMb: Math.floor(findMemoryBytes() / 2 ** 20),
    syncIntervalMs: 5000,
    nodeName: 'night-owl.lan',
    noCameras: false,
    peerAddress: undefined,
    drainSeconds: 0,
    logLevel: 'info',
  })
  assert.equal(defaultPublicUrl(8443), 'https://localhost:8443')
  assert.equal(defaultPublicUrl(443), 'https://localhost')
})

test('flags win over variables, variables over the file, the file over defaults', async (t) => {
  const { folder, sources } = await createSources(t)
  await mkdir(join(folder, 'store'))
  const file = { port: 1, host: '1.1.1.1', workers: '5', archive: 'films', 'allow-loopback-cameras': true }
  await writeFile(join(folder, 'store', 'nightjar.json'), JSON.stringify(file))
  const env = { NIGHTJAR_PORT: '2', NIGHTJAR_HOST: '2.2.2.2', NIGHTJAR_DATA: 'store', NIGHTJAR_LOG_LEVEL: '' }
  const config = await loadConfig({ ...sources, env, flags: { port: '3', 'public-url': 'https://Cam.example.org/' } })
  assert.deepEqual(
    [
      config.port,
      config.host,
      config.workers,
      config.data,
      config.archive,
      config.allowLoopbackCameras,
      config.logLevel,
    ],
    [3, '2.2.2.2', 5, join(folder, 'store'), [{ folder: join(folder, 'store', 'films'), weight: 1 }], true, 'info'],
  )
  assert.equal(config.publicUrl, 'https://cam.example.org')
  const off = await loadConfig({ ...sources, env, flags: { 'allow-loopback-cameras': false } })
  assert.equal(off.allowLoopbackCameras, false)
})

test('sizes are bytes, or have a unit', async (t) => {
  const { sources } = await createSources(t)
  const read = async (size: string) => (await loadConfig({ ...sources, flags: { 'archive-max': size } })).archiveMax
  assert.equal(await read('500GB'), 500e9)
  assert.equal(await read('1.5 TiB'), 1.5 * 2 ** 40)
  assert.equal(await read('16000000'), 16_000_000)
  assert.equal((await loadConfig({ ...sources, flags: { 'min-free': '0' } })).minFree, 0)
  for (const wrong of ['15MB', '-1GB', 'all', '1e3GB', '99999PB', '5 Gb', '']) {
    const flags = { 'archive-max': wrong }
    const expected = 'expected bytes, or a number with a unit as 500GB or 1.5TiB; at least 16.0 MB'
    assert.deepEqual(await faultsOf({ ...sources, flags }), [
      `--archive-max: ${expected}, got ${JSON.stringify(wrong)}`,
    ])
  }
})

test('recordings go to one folder, or to several with weights', async (t) => {
  const { folder, sources } = await createSources(t)
  const read = async (archive: string) => (await loadConfig({ ...sources, flags: { archive } })).archive
  assert.deepEqual(await read('/a b/c'), [{ folder: '/a b/c', weight: 1 }])
  assert.deepEqual(await read('/a=2.5, films=1'), [
    { folder: '/a', weight: 2.5 },
    { folder: join(folder, 'films'), weight: 1 },
  ])
  assert.deepEqual(await read('/a=b'), [{ folder: '/a=b', weight: 1 }])
  for (const [wrong, expected] of [
    ['/a,,/b', 'expected a path'],
    ['/a,/a/', 'expected each folder only once'],
    ['/a=0', 'expected a weight from 0.01 to 10000'],
  ])
    assert.match(
      (await faultsOf({ ...sources, flags: { archive: wrong! } }))[0]!,
      new RegExp(`^--archive: ${expected}`),
    )
})

test('the database is a file or an address, whose password is in no message', async (t) => {
  const { folder, sources } = await createSources(t)
  const read = async (database: string) => (await loadConfig({ ...sources, flags: { database } })).database
  assert.equal(await read('store/n.db'), join(folder, 'store', 'n.db'))
  const url = 'postgres://nightjar:s%20cret@db.example.org:5433/cameras?sslmode=verify-full'
  assert.equal(await read(url), url)
  assert.equal(await read('postgresql:///cameras?host=/run/postgresql'), 'postgresql:///cameras?host=/run/postgresql')
  // Of passwords with special characters that are not encoded, a part would be taken for the host or the name.
  const unencoded = ['se@cr/et', '12/cret', 'se#cret', 'se?cret', '12#cret', 'se/cret']
  for (const wrong of [
    ...['mysql://u:secret@h/n', 'postgres://u:secret@h', 'postgres://u:secret@h:x/n'],
    ...unencoded.map((password) => `postgres://u:${password}@h/n`),
  ]) {
    const [fault, ...others] = await faultsOf({ ...sources, env: { NIGHTJAR_DATABASE: wrong } })
    assert.match(fault!, /^NIGHTJAR_DATABASE: expected a file or postgres:.* percent-encoded: @ is %40/, wrong)
    assert.doesNotMatch(`${fault} ${others}`, /cr|et/.test(wrong) ? /cret|cr\/et/ : /x/)
  }
})

test('a file named by a flag may set the data folder', async (t) => {
  const { folder, sources } = await createSources(t)
  await writeFile(join(folder, 'n.json'), '{"data": "elsewhere"}')
  const config = await loadConfig({ ...sources, flags: { config: 'n.json' } })
  assert.equal(config.data, join(folder, 'elsewhere'))
})

test('all faults are named together, each with where it stands', async (t) => {
  const { folder, sources } = await createSources(t)
  const file = join(folder, 'n.json')
  await writeFile(file, '{"prot": 1, "workers": 0, "host": ["a"], "data": ""}')
  const env = { NIGHTJAR_CONFIG: 'n.json', NIGHTJAR_PORT: '65536', NIGHTJAR_ALLOW_LOOPBACK_CAMERAS: 'perhaps' }
  const wrong = { 'public-url': 'http://x/', 'log-level': 'loud', 'tls-cert': 'none.pem', 'node-name': 'a b' }
  const flags = { ...wrong, 'behind-proxy': true }
  assert.deepEqual(await faultsOf({ ...sources, env, flags }), [
    `${file}: "prot": there is no such option`,
    `${file}: "host": expected a single value`,
    `${file}: "data": expected a path, got ""`,
    'NIGHTJAR_PORT: expected a whole number from 0 to 65535, got "65536"',
    '--public-url: expected https://, a host and possibly a port, nothing else, got "http://x/"',
    'NIGHTJAR_ALLOW_LOOPBACK_CAMERAS: expected true or false, got "perhaps"',
    `${file}: "workers": expected a whole number from 1 to 64, got "0"`,
    '--node-name: expected 1 to 63 letters, digits, dots and hyphens, beginning with a letter or digit, got "a b"',
    '--log-level: expected one of debug, info, warn, error, silent, got "loud"',
    'tls-cert and tls-key are given together or not at all',
    `tls-cert: ${join(folder, 'none.pem')} cannot be read`,
  ])
  assert.deepEqual(await faultsOf({ ...sources, flags: { 'behind-proxy': true } }), ['behind-proxy needs public-url'])
})

test('a file that is missing, broken or moves the data folder it is in', async (t) => {
  const { folder, sources } = await createSources(t)
  assert.match((await faultsOf({ ...sources, flags: { config: 'x' } }))[0]!, /no such file/)
  await mkdir(join(folder, 'data'))
  for (const [text, fault] of [
    ['{', /JSON/],
    ['[]', /expected a JSON object/],
    ['{"data": "/x"}', /cannot be moved/],
  ] as const) {
    await writeFile(join(folder, 'data', 'nightjar.json'), text)
    assert.match((await faultsOf(sources))[0]!, fault)
  }
})

test('public URLs are origins', async (t) => {
  const { sources } = await createSources(t)
  const faulty = ['https://x/path', 'https://x?q', 'https://u@x', 'https://x/#', 'x', 'https://']
  for (const url of faulty) assert.equal((await faultsOf({ ...sources, flags: { 'public-url': url } })).length, 1, url)
})

test('docs/reference/configuration.md is current', async () => {
  const page = await readFile(new URL('../docs/reference/configuration.md', import.meta.url), 'utf8')
  assert.equal(page, writeConfigurationReference(), 'run: node_modules/.bin/node server/config/write-reference.ts')
})

test('the settings that the documentation shows are valid', async (t) => {
  const names = ['operating.md', 'operating/network.md', 'operating/backup.md', 'guide/install.md']
  const pages = await Promise.all(names.map((name) => readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8')))
  const shown = pages.flatMap((page) => [...page.matchAll(/^```json\n(.+?)^```/gms)].map(([, text]) => text!))
  assert.ok(shown.length >= 6)
  for (const text of shown) {
    const { folder, sources } = await createSources(t)
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    for (const file of [cert, key]) await writeFile(file, '')
    const here = text.replace('/etc/nightjar/cert.pem', cert).replace('/etc/nightjar/key.pem', key)
    await writeFile(join(folder, 'shown.json'), here)
    await loadConfig({ ...sources, flags: { config: join(folder, 'shown.json') } })
  }
})
