// Writes the API description as docs/reference/api.md.

import { createDescription } from './description.ts'
import { createReference } from './reference.ts'

/** The default URL of a newly installed server. */
const publicUrl = 'https://localhost:8443'

/** Returns Markdown. A test compares it with the file. */
export function writeManual(): string {
  const parts = createReference(createDescription(publicUrl)).map(({ heading, text, items }) => {
    return [`## ${heading}`, text, ...items.flatMap((item) => [`### ${item.heading}`, item.text])].join('\n\n')
  })
  return `# API

<!-- Generated: node_modules/.bin/node server/api/description/write-manual.ts -->

The same, with the address of the server, is at \`/docs/\` of every server, and for programs at \`/openapi.json\`.

${parts.join('\n\n')}
`
}
