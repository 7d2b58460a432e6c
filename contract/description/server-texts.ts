// Descriptions and examples for the server.

import type { Endpoints } from '../endpoints.ts'
import type { serverEndpoints } from '../server.ts'
import type { OperationText } from './operation-text.ts'

type Names = keyof typeof serverEndpoints

export const serverTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  sendTestMail: {
    tag: 'Server',
    description:
      'Waits for the answer of the mail server, up to a minute. An error of it is not an error of this request.',
    refusals: { 403: 'The caller is not an owner of the server, or the token lacks a scope.' },
    answer: {
      to: 'ada@example.org',
      sent: false,
      problem:
        'the mail server mail.example.org does not accept emails from nightjar@example.org; set mail-from to an address that this account may use (response 553 5.7.1 Sender address rejected)',
    },
  },
  getServer: {
    tag: 'Server',
    description:
      'Covers the cameras of all users. Disk space is at `/v1/me/storage/`; metrics for monitoring are at `/metrics`.',
    refusals: { 403: 'The caller is not an owner of the server, or the token lacks a scope.' },
    answer: {
      version: '0.1.0',
      started_at: '2026-04-24T10:00:00Z',
      database: 'sqlite',
      mail: 'smtp',
      mails_waiting: 0,
      mail_problem: null,
      has_own_authority: true,
      cameras: {
        count: 12,
        online: 11,
        offline: 1,
        unknown: 0,
        offline_reasons: [{ reason: 'camera_unreachable', count: 1 }],
      },
      recordings: { count: 10, recording: 9, failing: 0 },
      workers: { count: 1, running: 1, restarts: 0 },
      servers: [],
      decoder_isolation: {
        level: 'partial',
        in_force: ['memory', 'privileges', 'permission_model'],
        missing: ['network', 'files', 'processes', 'system_calls', 'threads'],
        reason: 'bubblewrap (bwrap) is not installed',
        advice: 'apt install bubblewrap',
      },
    },
  },
}
