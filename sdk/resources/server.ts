// The server itself, for its owners.

import type { Call, CallOptions } from '../call.ts'

export type Server = ReturnType<typeof createServer>

export const createServer = (call: Call) => ({
  /** How it is doing. */
  get: (options?: CallOptions) => call('getServer', {}, options),
})
