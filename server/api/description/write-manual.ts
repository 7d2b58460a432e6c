// Writes docs/reference/api.md anew, after an endpoint or what is said of it has changed.

import { writeFile } from 'node:fs/promises'
import { writeManual } from './manual.ts'

await writeFile(new URL('../../../docs/reference/api.md', import.meta.url), writeManual())
