// npm run sdk: writes the SDK as a package for Node and browsers, plain modules with their types, into build/sdk.

import { spawnSync } from 'node:child_process'
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const defaultFolder = join(root, 'build', 'sdk')

/** `folder` is emptied first. Throws with the compiler's words. */
export async function emitSdk(folder: string = defaultFolder): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  const { status, stdout, stderr, error } = spawnSync(
    compiler,
    ['--project', join(root, 'sdk', 'tsconfig.json'), '--outDir', folder],
    { encoding: 'utf8' },
  )
  if (error) throw error
  if (status !== 0) throw new Error(`the SDK could not be compiled:\n${stdout}${stderr}`)
  await nameTypesLikeModules(folder)
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, version, license }, null, 2)}\n`)
  await cp(join(root, 'sdk', 'README.md'), join(folder, 'README.md'))
  for (const name of ['LICENSE', 'NOTICE']) await cp(join(root, name), join(folder, name))
}

/** The compiler leaves `.ts` in the imports of declarations; older compilers of those who use the package want what is there. */
async function nameTypesLikeModules(folder: string): Promise<void> {
  for await (const name of glob('**/*.d.ts', { cwd: folder })) {
    const file = join(folder, name)
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replaceAll(/((?:from |import\()["']\.[^"']*)\.ts(["'])/g, '$1.js$2'))
  }
}

const manifest = {
  name: 'nightjar-sdk',
  version: '',
  description: 'Client of the Nightjar camera cloud, for Node and browsers.',
  license: '',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
  files: ['**/*.js', '**/*.d.ts', 'NOTICE'],
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await emitSdk()
  console.log(
    `${relative(process.cwd(), defaultFolder)} is ready: npm pack ./${relative(process.cwd(), defaultFolder)}`,
  )
}
