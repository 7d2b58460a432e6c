// Regenerates sdk/generated after a change of the contract.

import { writeFile } from 'node:fs/promises'
import { writeGenerated } from './sdk-interface.ts'

const folder = new URL('../sdk/generated/', import.meta.url)
for (const [name, text] of Object.entries(writeGenerated())) await writeFile(new URL(name, folder), text)
