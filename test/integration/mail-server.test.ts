// Emails through the mail server of this machine: Debian's Postfix with its settings, and a certificate that nobody signed,
// as Debian makes one for it.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { generate } from 'selfsigned'
import { createSmtpMailer } from '../../server/mail/smtp-mailer.ts'
import { eventually } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'

const skip =
  process.getuid?.() !== 0
    ? 'Postfix runs only as root'
    : spawnSync('postfix', ['-c', '/etc/postfix', 'check']).error !== undefined && 'Postfix is not installed'

/** Returns the port. */
async function openPostfix(t: TestContext, settings: Readonly<Record<string, string>>): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-postfix-'))
  const port = await findOwnPort()
  const config = join(folder, 'config')
  for (const name of ['config', 'queue', 'data']) await mkdir(join(folder, name))
  const identity = await generate([{ name: 'commonName', value: 'vm' }])
  await writeFile(join(folder, 'cert.pem'), identity.cert)
  await writeFile(join(folder, 'key.pem'), identity.private, { mode: 0o600 })
  spawnSync('chown', ['postfix', join(folder, 'data')])
  spawnSync('chmod', ['755', folder])
  const main = {
    ...{ compatibility_level: '3.6', queue_directory: join(folder, 'queue'), data_directory: join(folder, 'data') },
    ...{ maillog_file: join(folder, 'log'), maillog_file_prefixes: folder, inet_interfaces: '127.0.0.1' },
    ...{ mydestination: '', default_transport: 'discard', relay_transport: 'discard' },
    // As in Debian's main.cf.
    smtpd_tls_cert_file: join(folder, 'cert.pem'),
    smtpd_tls_key_file: join(folder, 'key.pem'),
    smtpd_tls_security_level: 'may',
    smtpd_relay_restrictions: 'permit_mynetworks permit_sasl_authenticated defer_unauth_destination',
    ...settings,
  }
  const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}\n`)
  await writeFile(join(config, 'main.cf'), lines.join(''))
  const master = await readFile('/etc/postfix/master.cf', 'utf8')
  await writeFile(join(config, 'master.cf'), master.replace(/^smtp +inet/m, `${port} inet`))
  const server = spawn('postfix', ['-c', config, 'start-fg'], { stdio: 'ignore' })
  const ended = once(server, 'exit')
  t.after(async () => {
    spawnSync('postfix', ['-c', config, 'abort'])
    server.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  const log = () => readFile(join(folder, 'log'), 'utf8').catch(() => '')
  await eventually('Postfix', 20_000, async () => (await log()).includes('daemon started'))
  return port
}

const mail = { to: 'ada.lind@example.org', subject: 'Hello', text: 'A line.\n' }

async function send(port: number, from: string): Promise<void> {
  const mailer = createSmtpMailer({ url: `smtp://localhost:${port}`, from })
  try {
    await mailer.send(mail)
  } finally {
    mailer.close()
  }
}

test('the mail server of this machine is used, although nobody signed its certificate', { skip }, async (t) => {
  const port = await openPostfix(t, { smtpd_tls_security_level: 'encrypt' })
  await send(port, 'nightjar@example.org')
})

test('a refused sender is a wrong setting, and the error says which', { skip }, async (t) => {
  const port = await openPostfix(t, {
    smtpd_sender_restrictions: 'check_sender_access inline:{ nightjar@wrong.example=REJECT }',
  })
  await assert.rejects(send(port, 'nightjar@wrong.example'), (error: Error & { kind: string }) => {
    assert.equal(error.kind, 'unavailable')
    assert.match(
      error.message,
      /does not accept emails from nightjar@wrong\.example; set mail-from .* \(response 554 5\.7\.1 /,
    )
    assert.doesNotMatch(error.message, /ada|lind/)
    return true
  })
  await send(port, 'nightjar@right.example')
})
