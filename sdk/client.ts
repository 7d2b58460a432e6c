// A client of one server: the operations of the interface by resource.

import type { Auth } from './auth.ts'
import { type Call, createCall, type RetryOptions } from './call.ts'
import { Http, type HttpOptions } from './http.ts'
import {
  type Applications,
  type Authorizations,
  createApplications,
  createAuthorizations,
  createIdentities,
  createMe,
  createSessions,
  createTokens,
  type Identities,
  type Me,
  type Sessions,
  type Tokens,
} from './resources/account.ts'
import { type Cameras, createCameras } from './resources/cameras.ts'
import { createEvents, type Events } from './resources/events.ts'
import { createGuests, type Guests } from './resources/guests.ts'
import { createServer, type Server } from './resources/server.ts'
import { createSharedCameras, type SharedCameras } from './resources/shared-cameras.ts'
import { createStreams, type Streams } from './resources/streams.ts'
import { createUsers, type Users } from './resources/users.ts'

export type ClientOptions = HttpOptions & {
  /** `personalToken(…)` or a `Session`. Without, only what needs no credentials can be called. */
  readonly auth?: Auth | undefined
  /** When the server is busy; not at all when missing. */
  readonly retry?: RetryOptions | undefined
}

export type Client = {
  readonly me: Me
  readonly cameras: Cameras
  readonly sharedCameras: SharedCameras
  readonly streams: Streams
  readonly guests: Guests
  readonly events: Events
  readonly tokens: Tokens
  readonly applications: Applications
  readonly authorizations: Authorizations
  readonly sessions: Sessions
  readonly identities: Identities
  readonly users: Users
  readonly server: Server
  /** Any operation by its name in the interface's table; the resources are made of it. */
  readonly call: Call
}

/** Does nothing yet: no request is made before the first call. */
export function createClient({ auth, retry, ...httpOptions }: ClientOptions): Client {
  const http = new Http(httpOptions)
  const call = createCall({ http, auth, retry })
  return {
    me: createMe(call),
    cameras: createCameras(call),
    sharedCameras: createSharedCameras(call),
    streams: createStreams(call, http),
    guests: createGuests(call),
    events: createEvents(call),
    tokens: createTokens(call),
    applications: createApplications(call),
    authorizations: createAuthorizations(call),
    sessions: createSessions(call),
    identities: createIdentities(call),
    users: createUsers(call),
    server: createServer(call),
    call,
  }
}
