// nightjar certificate

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import type { Command } from './command.ts'

export const certificateCommand: Command = {
  name: 'certificate',
  summary:
    'Print the certificate that devices must trust, if the server has none of a public authority. Android, iOS and browsers install it; curl takes it as --cacert.',
  positionals: [],
  options: {},
  async run({ config }) {
    const { data, behindProxy, tlsCert } = config
    if (behindProxy) throw new AppError('not_found', 'the certificate is that of the proxy (behind-proxy)')
    if (tlsCert !== undefined) throw new AppError('not_found', `the certificate is that of tls-cert, ${tlsCert}`)
    const file = join(data, 'tls', 'ca.pem')
    const certificate = (
      await readFile(file, 'utf8').catch((cause: unknown) => {
        throw new AppError('not_found', `there is no certificate in ${file}: start the server once`, { cause })
      })
    ).trim()
    const { fingerprint256: fingerprint, validToDate } = new X509Certificate(certificate)
    const valid_until = validToDate.toISOString()
    return { json: { file, certificate, fingerprint, valid_until }, text: certificate }
  },
}
