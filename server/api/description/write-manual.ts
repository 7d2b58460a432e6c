// Writes docs/reference/api.md. Run it after changing an endpoint or its description.

import { writeFile } from 'node:fs/promises'
import { writeManual } from './manual.ts'

await writeFile(new URL('../../../docs/reference/api.md', import.meta.url), writeManual())
