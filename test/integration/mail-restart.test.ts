// An email that could not be sent before the server was killed is sent after the next start.

import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { eventually, openServer } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'

test('an invitation that was created while the mail server was unreachable arrives after the server was killed', async (t) => {
  const port = await findOwnPort()
  await using server = await openServer('--smtp-url', `smtp://127.0.0.1:${port}`)
  const body = { email: 'new@example.com' }
  assert.equal((await server.request('/v1/users/invitations/', { method: 'POST', body })).status, 204)
  await eventually('a first attempt', 20_000, async () =>
    server.log().includes('an email could not be sent yet and will be retried'),
  )
  await server.kill()

  const mails: string[] = []
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _session, done) => {
      void text(stream).then((mail) => {
        mails.push(mail)
        done()
      })
    },
  })
  await new Promise<void>((resolve) => smtp.listen(port, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => smtp.close(() => resolve())))
  await server.start()
  const [mail] = await eventually('the email', 20_000, async () => mails.length > 0 && mails)
  assert.match(mail!, /^To: new@example\.com\r$/m)
  const [link] = /https:\S+token=\S+/.exec(mail!.replaceAll(/=\r\n/g, '').replaceAll('=3D', '='))!
  assert.equal((await server.request(link, { authorization: null })).status, 200)
  await eventually('nothing is left', 10_000, async () => {
    const { json } = await server.request<{ mails_waiting: number }>('/v1/server/')
    return json.mails_waiting === 0
  })
})
