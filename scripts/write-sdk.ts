// Writes sdk/generated anew, after the contract has changed.

import { writeFile } from 'node:fs/promises'
import { writeObjects, writeOperations } from './sdk-interface.ts'

const folder = new URL('../sdk/generated/', import.meta.url)
await writeFile(new URL('objects.ts', folder), writeObjects())
await writeFile(new URL('operations.ts', folder), writeOperations())
