// The files of examples/cluster: every server in them starts with options that exist, and the balancer knows them all.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { openOwnIdentity } from '../../server/api/transport/certificate.ts'
import { systemClock } from '../../server/base/clock.ts'
import { parseWords } from '../../server/commands/command-line.ts'
import { serveCommand } from '../../server/commands/serve-command.ts'
import { loadConfig } from '../../server/config.ts'

const folder = new URL('../../examples/cluster/', import.meta.url)
const read = (name: string) => readFile(new URL(name, folder), 'utf8')

type Values = Record<string, string>

/** As the program reads what a container gets. */
function configOf([command, ...args]: string[], env: Values) {
  assert.equal(command, 'serve')
  return loadConfig({ flags: parseWords(serveCommand, args).values, env, cwd: '/' })
}

test('compose: three servers of one database, of which one has the cameras, behind a balancer that knows them', async () => {
  type Service = { command: string[]; environment: Values; volumes: string[] }
  const { services } = parse(await read('compose.yaml'), { merge: true }) as { services: Record<string, Service> }
  const names = Object.keys(services).filter((name) => /^n\d$/.test(name))
  const configs = await Promise.all(names.map((name) => configOf(services[name]!.command, services[name]!.environment)))
  assert.deepEqual(
    configs.map(({ nodeName, peerAddress, noCameras }) => [nodeName, peerAddress, noCameras]),
    names.map((name) => [name, `${name}:8444`, name === 'n3']),
  )
  for (const { nodeName, secretKeyFile } of configs)
    assert.equal(secretKeyFile, nodeName === 'n1' ? undefined : '/n1/secret.key')
  for (const key of ['database', 'publicUrl', 'behindProxy', 'drainSeconds'] as const)
    assert.equal(new Set(configs.map((config) => config[key])).size, 1, key)

  const haproxy = await read('haproxy.cfg')
  const balanced = haproxy.slice(haproxy.indexOf('\nbackend nightjar'))
  assert.deepEqual(
    [...balanced.matchAll(/^ {2}server (\S+) (\S+)/gm)].map(([, name, address]) => [name, address]),
    names.map((name) => [name, `${name}:8443`]),
  )
  await using made = await mkdtempDisposable(join(tmpdir(), 'nightjar-haproxy-'))
  const { cert, key } = await openOwnIdentity({ dataDir: join(made.path, 'own'), hosts: [], clock: systemClock })
  const pem = join(made.path, 'cameras.pem')
  await writeFile(pem, `${cert}\n${key}`)
  const file = join(made.path, 'haproxy.cfg')
  await writeFile(file, haproxy.replace('/etc/haproxy/cameras.pem', pem))
  // Throws with what is wrong. No port is opened.
  execFileSync('haproxy', ['-c', '-q', '-f', file], { stdio: 'pipe' })
})

test('kubernetes: two pods share the cameras, the others answer, and all get the same settings', async () => {
  type Container = { args: string[]; env: { name: string; value?: string; valueFrom?: object }[] }
  type Item = {
    kind: string
    data: Values
    spec: { replicas: number; template: { spec: { containers: [Container] } } }
  }
  const { items } = parse(await read('kubernetes.yaml')) as { items: Item[] }
  const find = (kind: string) => items.find((item) => item.kind === kind)!
  const settings = find('ConfigMap').data
  const secrets = {
    POD_NAME: 'pod-0',
    POD_IP: '10.1.2.3',
    NIGHTJAR_DATABASE: 'postgres://nightjar:secret@a,b/nightjar',
  }
  for (const [kind, noCameras] of [
    ['StatefulSet', false],
    ['Deployment', true],
  ] as const) {
    const { replicas, template } = find(kind).spec
    assert.equal(replicas, 2)
    const [{ args, env }] = template.spec.containers
    for (const { name } of env) assert.ok(name in secrets || name.startsWith('AWS_'), name)
    const filled = args.map((arg) => arg.replace(/\$\((\w+)\)/g, (_, name) => secrets[name as keyof typeof secrets]))
    const config = await configOf(filled, { ...settings, ...secrets })
    assert.deepEqual(
      [config.nodeName, config.peerAddress, config.noCameras, config.data, config.secretKeyFile],
      ['pod-0', '10.1.2.3:8444', noCameras, '/data', '/etc/nightjar/secret.key'],
    )
  }
})
