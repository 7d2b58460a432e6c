// Inspects the decoder processes of a running server from outside, by what the kernel reports about them.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Camera } from '../../contract/camera.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer } from '../server-under-test.ts'

type Isolation = { level: string; in_force: string[]; missing: string[]; reason: string | null; advice: string | null }

type WithIsolation = { decoder_isolation: Isolation }

type Process = { readonly pid: number; readonly parent: number; readonly args: readonly string[] }

async function listProcesses(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid='])
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent] = line.trim().split(/ +/).map(Number)
    try {
      return [{ pid: pid!, parent: parent!, args: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') }]
    } catch {
      return [] // has ended
    }
  })
}

/** Finds the Node process itself, which is a descendant of the process that set up its isolation. */
async function findProgram(serverPid: number, program: string): Promise<number | undefined> {
  const all = await listProcesses()
  const below = (pid: number): Process[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)])
  return below(serverPid).find(({ args }) => args[0]!.endsWith('/node') && args.some((arg) => arg.endsWith(program)))
    ?.pid
}

function readStatus(pid: number): Map<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')
  return new Map(lines.map((line) => line.split(/:\s+/) as [string, string]))
}

/** What a sandbox shows in /tmp: the way to the program, if it is there. */
const programInTmp = import.meta.filename.startsWith('/tmp/') ? [import.meta.filename.split('/')[2]] : []

const readLink = (pid: number, name: string) => readlinkSync(`/proc/${pid}/${name}`)

test('decoder processes can access neither the network nor the files of the server', async (t) => {
  await using camera = await openFakeCamera({ streams: [{ name: 'door', width: 320, height: 180, audio: 'pcma' }] })
  await using server = await openServer()
  const id = await server.addCamera('door', camera.url('door'), '--record', 'P1D')
  const read = async () => (await server.request<Camera>(`/v1/cameras/${id}/`)).json
  await eventually('the camera is online with audio', 30_000, async () => {
    const { status, audio_enabled } = await read()
    return status === 'online' && audio_enabled
  })
  // This snapshot requires decoding.
  const url = new URL((await read()).live_snapshot)
  url.searchParams.set('width', '160')
  assert.equal((await server.request(url.href, { authorization: null })).status, 200)

  const { decoder_isolation: isolation } = (await server.request<Partial<WithIsolation>>('/v1/server/')).json
  // A server that reports no isolation state must be fully isolated.
  const isBoxed = isolation === undefined || isolation.level === 'full'
  if (!isBoxed) t.diagnostic(`no sandbox here: ${isolation.reason}`)
  for (const program of ['decoder-process.ts', 'audio-process.ts']) {
    const pid = await eventually(program, 20_000, async () => (await findProgram(server.pid, program)) ?? false)
    const status = readStatus(pid)
    if (isBoxed) {
      // The process has a root folder of its own without the folders of the server.
      assert.throws(() => readFileSync(`/proc/${pid}/root${server.dataDir}/secret.key`), { code: 'ENOENT' })
      assert.deepEqual(readdirSync(`/proc/${pid}/root/tmp`), programInTmp)
      for (const name of ['net', 'pid', 'mnt', 'ipc', 'uts', 'user']) {
        assert.notEqual(readLink(pid, `ns/${name}`), readLink(server.pid, `ns/${name}`), name)
      }
      assert.equal(status.get('Seccomp'), '2')
      assert.match(status.get('CapEff')!, /^0+$/)
    }
    assert.deepEqual(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter((each) => each && !each.startsWith('PWD=')), []) // biome-ignore format: one line
    assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '500')
    const descriptors = readdirSync(`/proc/${pid}/fd`).map((fd) => readLink(pid, `fd/${fd}`))
    const expected = /^(socket:|pipe:|anon_inode:|\/dev\/null$)/
    assert.deepEqual(descriptors.filter((target) => !expected.test(target)), []) // biome-ignore format: one line
    assert.equal(descriptors.filter((target) => target.startsWith('socket:')).length, 3)
    assert.equal(status.get('NoNewPrivs'), '1')
  }
})

test('the API, the command line and the log report the same state of the isolation', async () => {
  await using server = await openServer()
  const { decoder_isolation: isolation } = (await server.request<WithIsolation>('/v1/server/')).json
  assert.ok(isolation, 'the server reports the isolation state')
  const doctor = await server
    .command<WithIsolation>('doctor')
    .catch((error: { stdout: string }) => JSON.parse(error.stdout))
  assert.deepEqual(doctor.decoder_isolation, isolation)
  const logged = server.log().split('\n').filter((line) => line.includes('processes that decode')) // biome-ignore format: one line
  assert.equal(logged.length, 1)
  const { isolation: level, inForce, missing } = JSON.parse(logged[0]!)
  assert.deepEqual([level, inForce, missing], [isolation.level, isolation.in_force, isolation.missing])
})
