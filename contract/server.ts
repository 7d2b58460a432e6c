// How the server itself is doing: an extension, for its owners.

import { type Static, Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { protections } from './protections.ts'
import { nullable, Timestamp } from './schema.ts'

const count = (description: string) => Type.Integer({ description })

const Protection = Type.Enum([...protections])

export const ServerState = Type.Object({
  version: Type.String(),
  started_at: Timestamp,
  database: Type.Enum(['sqlite', 'postgresql']),
  mail: Type.Enum(['smtp', 'folder'], {
    description:
      'folder: no mail server is configured, invitations wait in the folder outbox for somebody to pass them on.',
  }),
  mails_waiting: count('Emails that the mail server has not taken yet. They are tried again and again.'),
  mail_problem: nullable(
    Type.String({
      description:
        'Why the latest attempt to send an email failed, and which setting may be wrong. Null if it succeeded.',
    }),
  ),
  has_own_authority: Type.Boolean({
    description:
      'Devices can be made to trust the certificate of the server: the page /certificate/ has the file and the steps.',
  }),
  cameras: Type.Object({
    count: count('Of all users.'),
    online: Type.Integer(),
    offline: Type.Integer(),
    unknown: count('Not connected yet, or not at present: nobody watches them.'),
    offline_reasons: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() }), {
      description: 'Reason such as camera_unreachable or auth_failed. The most frequent comes first.',
    }),
  }),
  recordings: Type.Object({
    count: count('Cameras that are to be recorded.'),
    recording: count('Being written at the moment.'),
    failing: count('Cannot be written; see `status_reason` of the recording.'),
  }),
  workers: Type.Object({
    count: count('Threads that handle what cameras send.'),
    running: Type.Integer(),
    restarts: count('Since the start of the server.'),
  }),
  servers: Type.Array(
    Type.Object({
      name: Type.String(),
      answers: Type.Boolean({ description: 'It has reported within the last eight seconds that it runs.' }),
      has_cameras: Type.Boolean({ description: 'It connects and records cameras. Others only answer.' }),
      cameras: Type.Integer({ description: 'Cameras that it has now.' }),
      cameras_by: Type.Object(
        {
          name: Type.Integer({ description: 'That ask for this server: `nightjar camera place`.' }),
          label: Type.Integer({ description: 'That ask for a label, which this server has.' }),
          spread: Type.Integer({ description: 'That are spread over all servers.' }),
          moving: Type.Integer({ description: 'That belong to another server, which gets them soon.' }),
        },
        { description: 'Why it has these cameras.' },
      ),
      is_draining: Type.Boolean({ description: 'It gives its cameras to others: `nightjar node drain`.' }),
      labels: Type.Array(Type.String(), { description: 'What cameras may ask for: `nightjar node label`.' }),
      peer_address: nullable(Type.String({ description: 'Where other servers reach it; null if they cannot.' })),
      version: Type.String(),
      started_at: Timestamp,
      reported_until: Timestamp,
    }),
    {
      description:
        'The servers of the PostgreSQL database, this one too, by name; those that are gone for a day. Empty with SQLite.',
    },
  ),
  decoder_isolation: Type.Object({
    level: Type.Enum(['full', 'partial', 'off'], {
      description:
        'What a decoding process cannot access if a camera takes it over. full: at least network, files, processes, system_calls and memory.',
    }),
    in_force: Type.Array(Protection, { description: 'Protections in force.' }),
    missing: Type.Array(Protection, { description: 'Protections not in force.' }),
    reason: nullable(Type.String({ description: 'Why protections are missing.' })),
    advice: nullable(Type.String({ description: 'What an owner of the server can do about it.' })),
  }),
})

export type ServerState = Static<typeof ServerState>

export const TestMail = Type.Object({
  to: Type.String({ description: 'The address of the caller.' }),
  sent: Type.Boolean(),
  problem: nullable(Type.String({ description: 'Why it was not sent, and which setting may be wrong.' })),
})

export type TestMail = Static<typeof TestMail>

export const serverEndpoints = {
  sendTestMail: endpoint({
    method: 'POST',
    path: '/v1/server/test-mail/',
    summary: 'Send an email to yourself, to test the mail server (owners only).',
    access: { all: ['read', 'write'] },
    status: 200,
    result: TestMail,
    isExtension: true,
  }),
  getServer: endpoint({
    method: 'GET',
    path: '/v1/server/',
    summary: 'Get the server status (owners only).',
    access: { all: ['read'] },
    status: 200,
    result: ServerState,
    isExtension: true,
  }),
}
