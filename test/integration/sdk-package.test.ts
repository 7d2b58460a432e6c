// The SDK as users get it: packed, installed into an empty project, run by plain Node and checked by the compiler.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openSdkProject, type Project } from '../sdk-project.ts'
import { openServerHere } from '../server-under-test.ts'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))

let project: Project
before(async () => {
  project = await openSdkProject()
})
after(() => project[Symbol.asyncDispose]())

test('the package contains modules and types and has no dependencies', async () => {
  const { installed } = project
  for (const name of ['index.js', 'index.d.ts', 'README.md', 'LICENSE', 'generated/operations.js']) {
    assert.ok(installed.includes(name), name)
  }
  const isSource = (name: string) => name.endsWith('.ts') && !name.endsWith('.d.ts')
  assert.deepEqual(installed.filter(isSource), [])
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: project.folder })
  assert.equal(stdout.trim().split('\n').length, 2) // the project and the package
})

const script = `
import { createClient, NightjarError, personalToken } from 'nightjar-sdk'
const [baseUrl, token] = process.argv.slice(2)
const client = createClient({ baseUrl, auth: personalToken(token) })
const { email } = await client.me.get()
const cameras = []
for await (const { name } of client.cameras.listAll({ limit: 1 })) cameras.push(name)
const { status, title } = await client.cameras.get(999).catch((error) => error instanceof NightjarError && error)
console.log(JSON.stringify({ email, cameras, status, title }))
`

test('a script in an empty project runs on the bundled and on the installed version of Node', async () => {
  await using server = await openServerHere()
  const add = ['camera', 'add', '--user', 'owner@example.com', '--url', 'rtsp://127.0.0.1:9/a']
  for (const name of ['Yard', 'Door']) await server.command(...add, '--name', name)
  const file = join(project.folder, 'script.js')
  await writeFile(file, script)
  for (const node of [process.execPath, ...(await findOtherNode())]) {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: server.caFile }
    const { stdout } = await run(node, [file, server.url, server.token], { env })
    const cameras = ['Yard', 'Door']
    assert.deepEqual(JSON.parse(stdout), { email: 'owner@example.com', cameras, status: 404, title: 'not_found' })
  }
})

/** The installed version of Node, if there is one that is recent enough. */
async function findOtherNode(): Promise<string[]> {
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
  const ask = ['-p', 'process.execPath + " " + parseInt(process.versions.node)']
  const found = await run('node', ask, { env: { PATH: path.join(':') } }).catch(() => undefined)
  const [file, major] = found?.stdout.trim().split(' ') ?? []
  return file !== undefined && Number(major) >= 20 ? [file] : []
}

const program = `
import {
  type Camera, type CameraEvent, createClient, findStreamUrl, type Guest, NightjarError, type Page, personalToken, Session,
} from 'nightjar-sdk'
const client = createClient({ baseUrl: 'https://cameras.example', auth: personalToken('njp_'), retry: { times: 1 } })
export async function use(signal: AbortSignal): Promise<void> {
  const page: Page<Camera> = await client.cameras.list({ limit: 5, max_width: 640 }, { signal })
  for await (const camera of client.sharedCameras.listAll()) {
    const owner: string = camera.owner.email
    const url: string | undefined = findStreamUrl(camera, 'hls')
    // @ts-expect-error a shared camera has no such key
    camera.event_api_hash
    void [owner, url]
  }
  const guest: Guest = await client.guests.create(1, { email: 'a@b.example', permissions: { can_view_rec: true } })
  // @ts-expect-error the URL is missing
  await client.guests.create(1, { permissions: {} })
  // @ts-expect-error a time range has an end
  await client.cameras.getTimeline(1, { start: new Date() })
  const segments: { start: string; end: string }[] = (
    await client.cameras.getTimeline(1, { start: new Date(), end: '2026-01-01T00:00:00Z' })
  ).segments
  const event: CameraEvent = await client.events.create({ hash: 'x', occurred_at: new Date() })
  const nothing: undefined = await client.call('deleteGuest', { params: { camera_id: 1, guest_id: 2 } })
  // @ts-expect-error no such operation
  await client.call('openDoor', {})
  void [page, guest, segments, event, nothing, Session]
}
export function explain(error: unknown): string {
  return error instanceof NightjarError ? \`\${error.status} \${error.title}: \${error.detail}\` : 'unknown'
}
`

test('a strict program type-checks against the package with the types of browsers or of Node', async () => {
  const file = join(project.folder, 'program.ts')
  await writeFile(file, program)
  const common = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022']
  const node = ['--types', 'node', '--typeRoots', join(modules, '@types')]
  for (const environment of [
    ['--lib', 'es2022,dom', '--types', '', '--module', 'esnext', '--moduleResolution', 'bundler'],
    ['--lib', 'es2022,dom', '--types', '', '--module', 'nodenext'],
    ['--lib', 'es2022', ...node, '--module', 'nodenext'],
  ]) {
    const compiler = join(modules, '.bin', 'tsc')
    const { stdout } = await run(compiler, [...common, ...environment, file], { cwd: project.folder }).catch(
      (error: { stdout: string }) => error,
    )
    assert.equal(stdout, '', environment.join(' '))
  }
})
