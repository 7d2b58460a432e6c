// The handlers of all endpoints.

import type { Handlers } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import type { MediaUrls } from '../media-urls.ts'
import { createCameraHandlers } from './cameras.ts'
import { createDetectionHandlers } from './detection.ts'
import { createEventHandlers } from './events.ts'
import { createFootageHandlers } from './footage.ts'
import { createGuestHandlers } from './guests.ts'
import { createMeHandlers } from './me.ts'
import { createOwnApplicationsHandlers } from './own-applications.ts'
import { createOwnCredentialsHandlers } from './own-credentials.ts'
import { createOwnIdentitiesHandlers } from './own-identities.ts'
import { createRecordingHandlers } from './recording.ts'
import { createServerHandlers } from './server.ts'
import { createSharedCameraHandlers } from './shared-cameras.ts'
import { createStorageHandlers } from './storage.ts'
import { createUserHandlers } from './users.ts'

/** `publicUrl`: the origin of links, without a trailing slash. */
export type HandlersOptions = ApiDeps & { readonly urls: MediaUrls }

export function createHandlers(options: HandlersOptions): Handlers {
  return {
    ...createMeHandlers(options),
    ...createOwnCredentialsHandlers(options),
    ...createOwnIdentitiesHandlers(options),
    ...createOwnApplicationsHandlers(options),
    ...createUserHandlers(options),
    ...createCameraHandlers(options),
    ...createDetectionHandlers(options.detector),
    ...createRecordingHandlers(options),
    ...createFootageHandlers(options),
    ...createStorageHandlers(options),
    ...createServerHandlers(options),
    ...createSharedCameraHandlers(options),
    ...createGuestHandlers(options),
    ...createEventHandlers(options),
  }
}
