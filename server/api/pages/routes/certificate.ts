// The page that explains how to make a device trust the certificate of this server, and the file for it.

import type { FastifyInstance } from 'fastify'
import type { OwnAuthority } from '../../transport/certificate.ts'
import { html } from '../html.ts'
import type { Page } from '../page.ts'
import { certificateFilePath, certificatePath } from '../paths.ts'

/** Only for a server whose certificate is signed by an authority of its own. */
export function createCertificatePage({ fingerprint }: OwnAuthority): Page {
  return {
    path: certificatePath,
    audience: 'anyone',
    isOpenWithoutSecondFactor: true,
    async get({ texts: { certificate: texts } }) {
      const content = html`<p class="lead">${texts.lead}</p>
<p><a class="button" href="${certificateFilePath}" download="nightjar.crt">${texts.download}</a></p>
<p class="hint">${texts.compare}</p>
<p class="secret"><code>${fingerprint}</code></p>
${texts.steps.map(([device, steps]) => html`<h2>${device}</h2>\n<p>${steps}</p>\n`)}
<p class="hint">${texts.limits}</p>`
      return { kind: 'page', title: texts.title, content }
    },
  }
}

/** In the form and with the type by which phones recognize it. */
export function registerCertificateFile(server: FastifyInstance, { cert }: OwnAuthority): void {
  server.get(certificateFilePath, (_request, reply) =>
    reply
      .headers({
        'content-type': 'application/x-x509-ca-cert',
        'content-disposition': 'attachment; filename="nightjar.crt"',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      })
      .send(Buffer.from(cert)),
  )
}
