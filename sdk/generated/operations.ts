// Written by scripts/write-sdk.ts from the API description. Do not edit; change the contract instead.

import type {
  Account,
  AccountChange,
  AccountRemovalProof,
  AccountSignOut,
  Application,
  ApplicationChange,
  ApplicationWithSecret,
  Authorization,
  BrowserSession,
  Camera,
  CameraChange,
  CameraEvent,
  CameraSource,
  CameraStatistics,
  CreatedPersonalToken,
  Download,
  Guest,
  GuestChange,
  GuestLink,
  Identity,
  IdentityProvider,
  MeChange,
  NewAccount,
  NewApplication,
  NewCamera,
  NewDetection,
  NewEvent,
  NewGuest,
  NewInvitation,
  NewPersonalToken,
  NewRecording,
  OnvifDevice,
  OnvifDeviceSource,
  OnvifDiscovery,
  Page,
  PersonalToken,
  RecordedImages,
  RecordedStream,
  Recording,
  RecordingChange,
  SecondFactorRemoval,
  SecretRotation,
  ServerState,
  SharedCamera,
  Storage,
  StorageChange,
  StreamDetection,
  StreamInfo,
  TestMail,
  Time,
  Timeline,
  User,
} from './objects.ts'

export type Operations = {
  /** Get the current user. */
  getMe: { result: User }
  /** Update the current user. An extension of the interface. */
  updateMe: { body: MeChange; result: User }
  /** List cameras. */
  listCameras: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
      /** Maximum number of frames per second in the MJPEG stream; 0.1 means one every 10 seconds. */
      refresh_rate?: number | undefined
      /** Maximum width of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_width?: number | undefined
      /** Maximum height of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_height?: number | undefined
    }
    result: Page<Camera>
  }
  /** Add a camera. An extension of the interface. */
  createCamera: { body: NewCamera; result: Camera }
  /** Get a camera. */
  getCamera: {
    params: { camera_id: number }
    query?: {
      /** Maximum number of frames per second in the MJPEG stream; 0.1 means one every 10 seconds. */
      refresh_rate?: number | undefined
      /** Maximum width of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_width?: number | undefined
      /** Maximum height of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_height?: number | undefined
    }
    result: Camera
  }
  /** Update a camera. An extension of the interface. */
  updateCamera: { params: { camera_id: number }; body: CameraChange; result: Camera }
  /** Delete a camera and its footage. An extension of the interface. */
  deleteCamera: { params: { camera_id: number }; result: undefined }
  /** List shared cameras. */
  listSharedCameras: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
      /** Maximum number of frames per second in the MJPEG stream; 0.1 means one every 10 seconds. */
      refresh_rate?: number | undefined
      /** Maximum width of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_width?: number | undefined
      /** Maximum height of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_height?: number | undefined
    }
    result: Page<SharedCamera>
  }
  /** Get a shared camera. */
  getSharedCamera: {
    params: { camera_id: number }
    query?: {
      /** Maximum number of frames per second in the MJPEG stream; 0.1 means one every 10 seconds. */
      refresh_rate?: number | undefined
      /** Maximum width of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_width?: number | undefined
      /** Maximum height of the MJPEG stream and the live snapshot, in pixels. It is rounded down to one of a few sizes. */
      max_height?: number | undefined
    }
    result: SharedCamera
  }
  /** Leave a shared camera. An extension of the interface. */
  deleteSharedCamera: { params: { camera_id: number }; result: undefined }
  /** Get the playback position of a recorded stream. */
  getStreamInfo: { params: { streamer_name: string; streamer_id: string }; result: StreamInfo }
  /** Get recording information. */
  getRecording: { params: { camera_id: number }; result: Recording }
  /** Turn on recording. An extension of the interface. */
  enableRecording: { params: { camera_id: number }; body: NewRecording; result: Recording }
  /** Update the retention of recordings. An extension of the interface. */
  updateRecording: { params: { camera_id: number }; body: RecordingChange; result: Recording }
  /** Turn off recording. An extension of the interface. */
  disableRecording: { params: { camera_id: number }; result: undefined }
  /** Get the recording timeline. */
  getTimeline: {
    params: { camera_id: number }
    query: {
      /** Inclusive. */
      start: Time
      /** Exclusive; at most 1 day later, and 25 hours for the day on which the clocks are set back. */
      end: Time
    }
    result: Timeline
  }
  /** Create a recorded stream for a time range. */
  createStream: {
    params: { camera_id: number }
    query: {
      /** Where playback begins. */
      start: Time
      /** Default: the end of the footage; while the camera records, the stream continues with live footage. */
      end?: Time | undefined
    }
    result: RecordedStream
  }
  /** Get recording information of a shared camera. */
  getSharedRecording: { params: { camera_id: number }; result: Recording }
  /** Get the recording timeline of a shared camera. */
  getSharedTimeline: {
    params: { camera_id: number }
    query: {
      /** Inclusive. */
      start: Time
      /** Exclusive; at most 1 day later, and 25 hours for the day on which the clocks are set back. */
      end: Time
    }
    result: Timeline
  }
  /** Create a recorded stream of a shared camera. */
  createSharedStream: {
    params: { camera_id: number }
    query: {
      /** Where playback begins. */
      start: Time
      /** Default: the end of the footage; while the camera records, the stream continues with live footage. */
      end?: Time | undefined
    }
    result: RecordedStream
  }
  /** List guests of a camera. */
  listGuests: {
    params: { camera_id: number }
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<Guest>
  }
  /** Invite a guest. */
  createGuest: { params: { camera_id: number }; body: NewGuest; result: Guest }
  /** Get a guest. */
  getGuest: { params: { camera_id: number; guest_id: number }; result: Guest }
  /** Update the permissions of a guest. */
  updateGuest: { params: { camera_id: number; guest_id: number }; body: GuestChange; result: Guest }
  /** Remove a guest. */
  deleteGuest: { params: { camera_id: number; guest_id: number }; result: undefined }
  /** List events. */
  listEvents: {
    query?: {
      /** Inclusive, on `occurred_at`. */
      start?: Time | undefined
      /** Exclusive, on `occurred_at`. */
      end?: Time | undefined
      /** Extension. Return only events of this category. */
      category?: string | undefined
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<CameraEvent>
  }
  /** Create an event. */
  createEvent: { body: NewEvent; result: CameraEvent }
  /** List events of a camera. */
  listCameraEvents: {
    params: { camera_id: number }
    query?: {
      /** Inclusive, on `occurred_at`. */
      start?: Time | undefined
      /** Exclusive, on `occurred_at`. */
      end?: Time | undefined
      /** Extension. Return only events of this category. */
      category?: string | undefined
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<CameraEvent>
  }
  /** Get the source of a camera. An extension of the interface. */
  getCameraSource: { params: { camera_id: number }; result: CameraSource }
  /** Create an invitation link. An extension of the interface. */
  createGuestLink: { params: { camera_id: number; guest_id: number }; result: GuestLink }
  /** Replace the `event_api_hash` of a camera. An extension of the interface. */
  rotateEventHash: { params: { camera_id: number }; result: Camera }
  /** Start recording. An extension of the interface. */
  startRecording: {
    params: { camera_id: number }
    query?: {
      /** Duration in seconds, up to a year. Default: no end. */
      duration?: number | undefined
    }
    result: undefined
  }
  /** Stop recording without turning it off. An extension of the interface. */
  stopRecording: { params: { camera_id: number }; result: undefined }
  /** Probe a camera URL. An extension of the interface. */
  detectStream: { body: NewDetection; result: StreamDetection }
  /** Discover cameras on the server’s network. An extension of the interface. */
  discoverDevices: { result: OnvifDiscovery }
  /** List the streams of an ONVIF camera. An extension of the interface. */
  readDevice: { body: OnvifDeviceSource; result: OnvifDevice }
  /** Create a link to recorded images. An extension of the interface. */
  getPictures: {
    params: { camera_id: number }
    query?: {
      /** Maximum width of the images in pixels; rounded down to one of a few sizes. */
      max_width?: number | undefined
      /** Maximum height of the images in pixels; rounded down to one of a few sizes. */
      max_height?: number | undefined
    }
    result: RecordedImages
  }
  /** Create a link to recorded images of a shared camera. An extension of the interface. */
  getSharedPictures: {
    params: { camera_id: number }
    query?: {
      /** Maximum width of the images in pixels; rounded down to one of a few sizes. */
      max_width?: number | undefined
      /** Maximum height of the images in pixels; rounded down to one of a few sizes. */
      max_height?: number | undefined
    }
    result: RecordedImages
  }
  /** Create a download link for a time range. An extension of the interface. */
  createDownload: {
    params: { camera_id: number }
    query: {
      /** Inclusive. */
      start: Time
      /** Exclusive; at most 3 hours later. */
      end: Time
      /** File name of the download. */
      filename?: string | undefined
      /** `skip` leaves gaps out; `keep` shows the last frame for the length of the gap, and nothing during a gap at the start. */
      gaps?: 'skip' | 'keep' | undefined
    }
    result: Download
  }
  /** Create a download link for a time range of a shared camera. An extension of the interface. */
  createSharedDownload: {
    params: { camera_id: number }
    query: {
      /** Inclusive. */
      start: Time
      /** Exclusive; at most 3 hours later. */
      end: Time
      /** File name of the download. */
      filename?: string | undefined
      /** `skip` leaves gaps out; `keep` shows the last frame for the length of the gap, and nothing during a gap at the start. */
      gaps?: 'skip' | 'keep' | undefined
    }
    result: Download
  }
  /** Get reception statistics of a camera. An extension of the interface. */
  getCameraStatistics: { params: { camera_id: number }; result: CameraStatistics }
  /** Get storage usage. An extension of the interface. */
  getStorage: { result: Storage }
  /** Get storage usage of a user (owners only). An extension of the interface. */
  getUserStorage: { params: { user_id: number }; result: Storage }
  /** Set the storage limit of a user (owners only). An extension of the interface. */
  updateUserStorage: { params: { user_id: number }; body: StorageChange; result: Storage }
  /** Send an email to yourself, to test the mail server (owners only). An extension of the interface. */
  sendTestMail: { result: TestMail }
  /** Get the server status (owners only). An extension of the interface. */
  getServer: { result: ServerState }
  /** List personal access tokens. An extension of the interface. */
  listTokens: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<PersonalToken>
  }
  /** Create a personal access token. An extension of the interface. */
  createToken: { body: NewPersonalToken; result: CreatedPersonalToken }
  /** Revoke a personal access token. An extension of the interface. */
  deleteToken: { params: { token_id: number }; result: undefined }
  /** List applications. An extension of the interface. */
  listApplications: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<Application>
  }
  /** Register an application. An extension of the interface. */
  createApplication: { body: NewApplication; result: ApplicationWithSecret }
  /** Get an application. An extension of the interface. */
  getApplication: { params: { application_id: number }; result: Application }
  /** Update an application. An extension of the interface. */
  updateApplication: { params: { application_id: number }; body: ApplicationChange; result: Application }
  /** Delete an application and revoke its access. An extension of the interface. */
  deleteApplication: { params: { application_id: number }; result: undefined }
  /** Replace the secret of an application. An extension of the interface. */
  rotateApplicationSecret: { params: { application_id: number }; body: SecretRotation; result: ApplicationWithSecret }
  /** List authorized applications. An extension of the interface. */
  listAuthorizations: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<Authorization>
  }
  /** Revoke the access of an application. An extension of the interface. */
  deleteAuthorization: { params: { authorization_id: number }; result: undefined }
  /** List browser sessions. An extension of the interface. */
  listSessions: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<BrowserSession>
  }
  /** Sign out a browser. An extension of the interface. */
  deleteSession: { params: { session_id: string }; result: undefined }
  /** List identity providers. An extension of the interface. */
  listIdentityProviders: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<IdentityProvider>
  }
  /** List linked identities. An extension of the interface. */
  listIdentities: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<Identity>
  }
  /** Unlink an identity. An extension of the interface. */
  deleteIdentity: { params: { identity_id: number }; result: undefined }
  /** List users (owners only). An extension of the interface. */
  listUsers: {
    query?: {
      /** Items per page. Default: 100; values above 1000 are treated as 1000. */
      limit?: number | undefined
      /** Number of items to skip. Default: 0. */
      offset?: number | undefined
    }
    result: Page<Account>
  }
  /** Create a user (owners only). An extension of the interface. */
  createUser: { body: NewAccount; result: Account }
  /** Invite a user (owners only). An extension of the interface. */
  inviteUser: { body: NewInvitation; result: undefined }
  /** Get a user (owners only). An extension of the interface. */
  getUser: { params: { user_id: number }; result: Account }
  /** Update a user (owners only). An extension of the interface. */
  updateUser: { params: { user_id: number }; body: AccountChange; result: Account }
  /** Delete a user (owners only). An extension of the interface. */
  deleteUser: {
    params: { user_id: number }
    query?: {
      /** Also delete the user’s cameras and their footage. Without it, a user with cameras is not deleted. */
      remove_cameras?: boolean | undefined
    }
    body: AccountRemovalProof
    result: undefined
  }
  /** Sign a user out everywhere (owners only). An extension of the interface. */
  signOutUser: { params: { user_id: number }; body: AccountSignOut; result: undefined }
  /** Removes the second factor of somebody who lost it; for owners. An extension of the interface. */
  removeSecondFactor: { params: { user_id: number }; body: SecondFactorRemoval; result: undefined }
}

export type OperationName = keyof Operations

/** The method and path of each operation; `{name}` stands for a parameter. */
export const operations = {
  getMe: { method: 'GET', path: '/v1/me/' },
  updateMe: { method: 'PUT', path: '/v1/me/' },
  listCameras: { method: 'GET', path: '/v1/cameras/' },
  createCamera: { method: 'POST', path: '/v1/cameras/' },
  getCamera: { method: 'GET', path: '/v1/cameras/{camera_id}/' },
  updateCamera: { method: 'PUT', path: '/v1/cameras/{camera_id}/' },
  deleteCamera: { method: 'DELETE', path: '/v1/cameras/{camera_id}/' },
  listSharedCameras: { method: 'GET', path: '/v1/shared-cameras/' },
  getSharedCamera: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/' },
  deleteSharedCamera: { method: 'DELETE', path: '/v1/shared-cameras/{camera_id}/' },
  getStreamInfo: { method: 'GET', path: '/v1/recording/stream/{streamer_name}/{streamer_id}/' },
  getRecording: { method: 'GET', path: '/v1/cameras/{camera_id}/recording/' },
  enableRecording: { method: 'POST', path: '/v1/cameras/{camera_id}/recording/' },
  updateRecording: { method: 'PUT', path: '/v1/cameras/{camera_id}/recording/' },
  disableRecording: { method: 'DELETE', path: '/v1/cameras/{camera_id}/recording/' },
  getTimeline: { method: 'GET', path: '/v1/cameras/{camera_id}/recording/timeline/' },
  createStream: { method: 'GET', path: '/v1/cameras/{camera_id}/recording/stream/' },
  getSharedRecording: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/recording/' },
  getSharedTimeline: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/recording/timeline/' },
  createSharedStream: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/recording/stream/' },
  listGuests: { method: 'GET', path: '/v1/cameras/{camera_id}/guests/' },
  createGuest: { method: 'POST', path: '/v1/cameras/{camera_id}/guests/' },
  getGuest: { method: 'GET', path: '/v1/cameras/{camera_id}/guests/{guest_id}/' },
  updateGuest: { method: 'PUT', path: '/v1/cameras/{camera_id}/guests/{guest_id}/' },
  deleteGuest: { method: 'DELETE', path: '/v1/cameras/{camera_id}/guests/{guest_id}/' },
  listEvents: { method: 'GET', path: '/v1/events/' },
  createEvent: { method: 'POST', path: '/v1/events/' },
  listCameraEvents: { method: 'GET', path: '/v1/events/{camera_id}/' },
  getCameraSource: { method: 'GET', path: '/v1/cameras/{camera_id}/source/' },
  createGuestLink: { method: 'POST', path: '/v1/cameras/{camera_id}/guests/{guest_id}/link/' },
  rotateEventHash: { method: 'POST', path: '/v1/cameras/{camera_id}/event-hash/' },
  startRecording: { method: 'POST', path: '/v1/cameras/{camera_id}/recording/start/' },
  stopRecording: { method: 'POST', path: '/v1/cameras/{camera_id}/recording/stop/' },
  detectStream: { method: 'POST', path: '/v1/cameras/stream-detection/' },
  discoverDevices: { method: 'POST', path: '/v1/cameras/onvif-discovery/' },
  readDevice: { method: 'POST', path: '/v1/cameras/onvif-profiles/' },
  getPictures: { method: 'GET', path: '/v1/cameras/{camera_id}/recording/pictures/' },
  getSharedPictures: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/recording/pictures/' },
  createDownload: { method: 'GET', path: '/v1/cameras/{camera_id}/recording/download/' },
  createSharedDownload: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/recording/download/' },
  getCameraStatistics: { method: 'GET', path: '/v1/cameras/{camera_id}/statistics/' },
  getStorage: { method: 'GET', path: '/v1/me/storage/' },
  getUserStorage: { method: 'GET', path: '/v1/users/{user_id}/storage/' },
  updateUserStorage: { method: 'PUT', path: '/v1/users/{user_id}/storage/' },
  sendTestMail: { method: 'POST', path: '/v1/server/test-mail/' },
  getServer: { method: 'GET', path: '/v1/server/' },
  listTokens: { method: 'GET', path: '/v1/me/tokens/' },
  createToken: { method: 'POST', path: '/v1/me/tokens/' },
  deleteToken: { method: 'DELETE', path: '/v1/me/tokens/{token_id}/' },
  listApplications: { method: 'GET', path: '/v1/me/applications/' },
  createApplication: { method: 'POST', path: '/v1/me/applications/' },
  getApplication: { method: 'GET', path: '/v1/me/applications/{application_id}/' },
  updateApplication: { method: 'PUT', path: '/v1/me/applications/{application_id}/' },
  deleteApplication: { method: 'DELETE', path: '/v1/me/applications/{application_id}/' },
  rotateApplicationSecret: { method: 'POST', path: '/v1/me/applications/{application_id}/rotate-secret/' },
  listAuthorizations: { method: 'GET', path: '/v1/me/authorizations/' },
  deleteAuthorization: { method: 'DELETE', path: '/v1/me/authorizations/{authorization_id}/' },
  listSessions: { method: 'GET', path: '/v1/me/sessions/' },
  deleteSession: { method: 'DELETE', path: '/v1/me/sessions/{session_id}/' },
  listIdentityProviders: { method: 'GET', path: '/v1/me/identity-providers/' },
  listIdentities: { method: 'GET', path: '/v1/me/identities/' },
  deleteIdentity: { method: 'DELETE', path: '/v1/me/identities/{identity_id}/' },
  listUsers: { method: 'GET', path: '/v1/users/' },
  createUser: { method: 'POST', path: '/v1/users/' },
  inviteUser: { method: 'POST', path: '/v1/users/invitations/' },
  getUser: { method: 'GET', path: '/v1/users/{user_id}/' },
  updateUser: { method: 'PUT', path: '/v1/users/{user_id}/' },
  deleteUser: { method: 'DELETE', path: '/v1/users/{user_id}/' },
  signOutUser: { method: 'POST', path: '/v1/users/{user_id}/sign-out/' },
  removeSecondFactor: { method: 'POST', path: '/v1/users/{user_id}/remove-second-factor/' },
} as const satisfies Record<OperationName, { method: string; path: string }>
