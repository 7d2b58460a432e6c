// The server itself, for its owners.

import type { Call, CallOptions } from '../call.ts'

export type Server = ReturnType<typeof createServer>

export const createServer = (call: Call) => ({
  /** The status of the server. */
  get: (options?: CallOptions) => call('getServer', {}, options),

  /** Sends an email to the caller, to test the mail server. */
  sendTestMail: (options?: CallOptions) => call('sendTestMail', {}, options),
})
