// The handlers of all endpoints.

import type { Handlers } from '../call.ts'
import type { AnsweringDeps, CommonDeps, MediaDeps } from '../deps.ts'
import type { MediaUrls } from '../media-urls.ts'
import { createCameraChangeHandlers } from './camera-changes.ts'
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
export type HandlersOptions = CommonDeps & { readonly urls: MediaUrls }

/** What every server answers, from the database. */
function createCommonHandlers(options: HandlersOptions) {
  return {
    ...createMeHandlers(options),
    ...createOwnCredentialsHandlers(options),
    ...createOwnIdentitiesHandlers(options),
    ...createOwnApplicationsHandlers(options),
    ...createUserHandlers(options),
    ...createCameraHandlers(options),
    ...createSharedCameraHandlers(options),
    ...createGuestHandlers(options),
    ...createEventHandlers(options),
  }
}

/** What a server without cameras answers: of recordings, what it can play by itself. */
export function createAnsweringHandlers(options: HandlersOptions & Pick<AnsweringDeps, 'recorded'>) {
  const { createStream, createSharedStream, getStreamInfo } = createRecordingHandlers(options)
  const { createDownload, createSharedDownload } = createFootageHandlers(options)
  return {
    ...createCommonHandlers(options),
    ...{ createStream, createSharedStream, getStreamInfo, createDownload, createSharedDownload },
  }
}

/** What is answered by the server that has the cameras. */
function createMediaHandlers(options: HandlersOptions & MediaDeps) {
  return {
    ...createCameraChangeHandlers(options),
    ...createDetectionHandlers(options.detector),
    ...createRecordingHandlers(options),
    ...createFootageHandlers(options),
    ...createStorageHandlers(options),
    ...createServerHandlers(options),
  }
}

/** All of both. */
export const createHandlers = (options: HandlersOptions & MediaDeps): Handlers => ({
  ...createCommonHandlers(options),
  ...createMediaHandlers(options),
})
