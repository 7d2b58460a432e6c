// An empty project of somebody else's with the SDK installed as others get it: packed, and put there by npm.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { emitSdk } from '../scripts/emit-sdk.ts'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))

export type Project = AsyncDisposable & {
  readonly folder: string
  /** What npm put there, file by file. */
  readonly installed: readonly string[]
}

/** `from`: a folder to begin with; `packages`: of our own, by name, to install beside the SDK. Nothing comes from the network. */
export async function openSdkProject({
  from,
  packages = [],
}: {
  from?: string
  packages?: string[]
} = {}): Promise<Project> {
  const place = await mkdtemp(join(tmpdir(), 'nightjar-sdk-'))
  const [folder, emitted] = [join(place, 'project'), join(place, 'sdk')]
  await emitSdk(emitted)
  const npm = (cwd: string, ...args: string[]) => run('npm', [...args, '--cache', join(place, 'cache')], { cwd })
  const { stdout } = await npm(emitted, 'pack', '--json', '--pack-destination', place)
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  const isOwn = (path: string) => !path.includes('node_modules')
  await (from ? cp(from, folder, { recursive: true, filter: isOwn }) : mkdir(folder))
  if (!from) await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  const own = packages.map((name) => join(modules, name))
  const quietly = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--install-links']
  await npm(folder, 'install', ...quietly, join(place, filename), ...own)
  return {
    folder,
    installed: await readdir(join(folder, 'node_modules', 'nightjar-sdk'), { recursive: true }),
    [Symbol.asyncDispose]: () => rm(place, { recursive: true, force: true }),
  }
}
