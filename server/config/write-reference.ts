// Writes docs/reference/configuration.md anew, after an option has changed.

import { writeFile } from 'node:fs/promises'
import { writeConfigurationReference } from './reference.ts'

await writeFile(new URL('../../docs/reference/configuration.md', import.meta.url), writeConfigurationReference())
