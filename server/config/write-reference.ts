// Writes docs/reference/configuration.md. Run it after changing an option.

import { writeFile } from 'node:fs/promises'
import { writeConfigurationReference } from './reference.ts'

await writeFile(new URL('../../docs/reference/configuration.md', import.meta.url), writeConfigurationReference())
