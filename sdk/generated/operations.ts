// Written from the contract by scripts/write-sdk.ts; change the contract, not this.

import type {
  Account,
  AccountChange,
  AccountRemoval,
  AccountRemovalProof,
  AccountSignOut,
  Application,
  ApplicationChange,
  ApplicationWithSecret,
  Authorization,
  BrowserSession,
  CreatedPersonalToken,
  Identity,
  IdentityProvider,
  MeChange,
  NewAccount,
  NewApplication,
  NewInvitation,
  NewPersonalToken,
  PersonalToken,
  SecondFactorRemoval,
  SecretRotation,
} from './accounts.ts'
import type {
  Camera,
  CameraChange,
  CameraEvent,
  CameraListQuery,
  CameraQuery,
  CameraSource,
  CameraStatistics,
  Download,
  DownloadQuery,
  EventQuery,
  Guest,
  GuestChange,
  NewCamera,
  NewDetection,
  NewEvent,
  NewGuest,
  NewRecording,
  OnvifDevice,
  OnvifDeviceSource,
  OnvifDiscovery,
  Page,
  PageQuery,
  RecordedImages,
  RecordedImagesQuery,
  RecordedStream,
  Recording,
  RecordingChange,
  ServerState,
  SharedCamera,
  StartQuery,
  Storage,
  StorageChange,
  StreamDetection,
  StreamInfo,
  StreamQuery,
  Timeline,
  TimelineQuery,
  User,
} from './objects.ts'

export type Operations = {
  /** Get the current user. */
  getMe: { result: User }
  /** List cameras. */
  listCameras: { query?: CameraListQuery; result: Page<Camera> }
  /** Get a camera. */
  getCamera: { params: { camera_id: number }; query?: CameraQuery; result: Camera }
  /** List shared cameras. */
  listSharedCameras: { query?: CameraListQuery; result: Page<SharedCamera> }
  /** Get a shared camera. */
  getSharedCamera: { params: { camera_id: number }; query?: CameraQuery; result: SharedCamera }
  /** Get the playback position of a recorded stream. */
  getStreamInfo: { params: { streamer_name: string; streamer_id: string }; result: StreamInfo }
  /** Get recording information. */
  getRecording: { params: { camera_id: number }; result: Recording }
  /** Get the recording timeline. */
  getTimeline: { params: { camera_id: number }; query: TimelineQuery; result: Timeline }
  /** Create a recorded stream for a time range. */
  createStream: { params: { camera_id: number }; query: StreamQuery; result: RecordedStream }
  /** Get recording information of a shared camera. */
  getSharedRecording: { params: { camera_id: number }; result: Recording }
  /** Get the recording timeline of a shared camera. */
  getSharedTimeline: { params: { camera_id: number }; query: TimelineQuery; result: Timeline }
  /** Create a recorded stream of a shared camera. */
  createSharedStream: { params: { camera_id: number }; query: StreamQuery; result: RecordedStream }
  /** List guests of a camera. */
  listGuests: { params: { camera_id: number }; query?: PageQuery; result: Page<Guest> }
  /** Invite a guest. */
  createGuest: { params: { camera_id: number }; body: NewGuest; result: Guest }
  /** Get a guest. */
  getGuest: { params: { camera_id: number; guest_id: number }; result: Guest }
  /** Update the permissions of a guest. */
  updateGuest: { params: { camera_id: number; guest_id: number }; body: GuestChange; result: Guest }
  /** Remove a guest. */
  deleteGuest: { params: { camera_id: number; guest_id: number }; result: undefined }
  /** List events. */
  listEvents: { query?: EventQuery; result: Page<CameraEvent> }
  /** Create an event. */
  createEvent: { body: NewEvent; result: CameraEvent }
  /** List events of a camera. */
  listCameraEvents: { params: { camera_id: number }; query?: EventQuery; result: Page<CameraEvent> }
  /** Add a camera. An extension of the interface. */
  createCamera: { body: NewCamera; result: Camera }
  /** Update a camera. An extension of the interface. */
  updateCamera: { params: { camera_id: number }; body: CameraChange; result: Camera }
  /** Get the source of a camera. An extension of the interface. */
  getCameraSource: { params: { camera_id: number }; result: CameraSource }
  /** Delete a camera and its footage. An extension of the interface. */
  deleteCamera: { params: { camera_id: number }; result: undefined }
  /** Replace the `event_api_hash` of a camera. An extension of the interface. */
  rotateEventHash: { params: { camera_id: number }; result: Camera }
  /** Turn on recording. An extension of the interface. */
  enableRecording: { params: { camera_id: number }; body: NewRecording; result: Recording }
  /** Update the retention of recordings. An extension of the interface. */
  updateRecording: { params: { camera_id: number }; body: RecordingChange; result: Recording }
  /** Turn off recording. An extension of the interface. */
  disableRecording: { params: { camera_id: number }; result: undefined }
  /** Start recording. An extension of the interface. */
  startRecording: { params: { camera_id: number }; query?: StartQuery; result: undefined }
  /** Stop recording without turning it off. An extension of the interface. */
  stopRecording: { params: { camera_id: number }; result: undefined }
  /** Leave a shared camera. An extension of the interface. */
  deleteSharedCamera: { params: { camera_id: number }; result: undefined }
  /** Probe a camera URL. An extension of the interface. */
  detectStream: { body: NewDetection; result: StreamDetection }
  /** Discover cameras on the server’s network. An extension of the interface. */
  discoverDevices: { result: OnvifDiscovery }
  /** List the streams of an ONVIF camera. An extension of the interface. */
  readDevice: { body: OnvifDeviceSource; result: OnvifDevice }
  /** Create a link to recorded images. An extension of the interface. */
  getPictures: { params: { camera_id: number }; query?: RecordedImagesQuery; result: RecordedImages }
  /** Create a link to recorded images of a shared camera. An extension of the interface. */
  getSharedPictures: { params: { camera_id: number }; query?: RecordedImagesQuery; result: RecordedImages }
  /** Create a download link for a time range. An extension of the interface. */
  createDownload: { params: { camera_id: number }; query: DownloadQuery; result: Download }
  /** Create a download link for a time range of a shared camera. An extension of the interface. */
  createSharedDownload: { params: { camera_id: number }; query: DownloadQuery; result: Download }
  /** Get reception statistics of a camera. An extension of the interface. */
  getCameraStatistics: { params: { camera_id: number }; result: CameraStatistics }
  /** Get storage usage. An extension of the interface. */
  getStorage: { result: Storage }
  /** Get storage usage of a user (owners only). An extension of the interface. */
  getUserStorage: { params: { user_id: number }; result: Storage }
  /** Set the storage limit of a user (owners only). An extension of the interface. */
  updateUserStorage: { params: { user_id: number }; body: StorageChange; result: Storage }
  /** Get the server status (owners only). An extension of the interface. */
  getServer: { result: ServerState }
  /** Update the current user. An extension of the interface. */
  updateMe: { body: MeChange; result: User }
  /** List personal access tokens. An extension of the interface. */
  listTokens: { query?: PageQuery; result: Page<PersonalToken> }
  /** Create a personal access token. An extension of the interface. */
  createToken: { body: NewPersonalToken; result: CreatedPersonalToken }
  /** Revoke a personal access token. An extension of the interface. */
  deleteToken: { params: { token_id: number }; result: undefined }
  /** List applications. An extension of the interface. */
  listApplications: { query?: PageQuery; result: Page<Application> }
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
  listAuthorizations: { query?: PageQuery; result: Page<Authorization> }
  /** Revoke the access of an application. An extension of the interface. */
  deleteAuthorization: { params: { authorization_id: number }; result: undefined }
  /** List browser sessions. An extension of the interface. */
  listSessions: { query?: PageQuery; result: Page<BrowserSession> }
  /** Sign out a browser. An extension of the interface. */
  deleteSession: { params: { session_id: string }; result: undefined }
  /** List identity providers. An extension of the interface. */
  listIdentityProviders: { query?: PageQuery; result: Page<IdentityProvider> }
  /** List linked identities. An extension of the interface. */
  listIdentities: { query?: PageQuery; result: Page<Identity> }
  /** Unlink an identity. An extension of the interface. */
  deleteIdentity: { params: { identity_id: number }; result: undefined }
  /** List users (owners only). An extension of the interface. */
  listUsers: { query?: PageQuery; result: Page<Account> }
  /** Create a user (owners only). An extension of the interface. */
  createUser: { body: NewAccount; result: Account }
  /** Invite a user (owners only). An extension of the interface. */
  inviteUser: { body: NewInvitation; result: undefined }
  /** Get a user (owners only). An extension of the interface. */
  getUser: { params: { user_id: number }; result: Account }
  /** Update a user (owners only). An extension of the interface. */
  updateUser: { params: { user_id: number }; body: AccountChange; result: Account }
  /** Sign a user out everywhere (owners only). An extension of the interface. */
  signOutUser: { params: { user_id: number }; body: AccountSignOut; result: undefined }
  /** Removes the second factor of somebody who lost it; for owners. An extension of the interface. */
  removeSecondFactor: { params: { user_id: number }; body: SecondFactorRemoval; result: undefined }
  /** Delete a user (owners only). An extension of the interface. */
  deleteUser: { params: { user_id: number }; query?: AccountRemoval; body: AccountRemovalProof; result: undefined }
}

export type OperationName = keyof Operations

/** Method and path of each; `{name}` stands for a parameter. */
export const operations = {
  getMe: { method: 'GET', path: '/v1/me/' },
  listCameras: { method: 'GET', path: '/v1/cameras/' },
  getCamera: { method: 'GET', path: '/v1/cameras/{camera_id}/' },
  listSharedCameras: { method: 'GET', path: '/v1/shared-cameras/' },
  getSharedCamera: { method: 'GET', path: '/v1/shared-cameras/{camera_id}/' },
  getStreamInfo: { method: 'GET', path: '/v1/recording/stream/{streamer_name}/{streamer_id}/' },
  getRecording: { method: 'GET', path: '/v1/cameras/{camera_id}/recording/' },
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
  createCamera: { method: 'POST', path: '/v1/cameras/' },
  updateCamera: { method: 'PUT', path: '/v1/cameras/{camera_id}/' },
  getCameraSource: { method: 'GET', path: '/v1/cameras/{camera_id}/source/' },
  deleteCamera: { method: 'DELETE', path: '/v1/cameras/{camera_id}/' },
  rotateEventHash: { method: 'POST', path: '/v1/cameras/{camera_id}/event-hash/' },
  enableRecording: { method: 'POST', path: '/v1/cameras/{camera_id}/recording/' },
  updateRecording: { method: 'PUT', path: '/v1/cameras/{camera_id}/recording/' },
  disableRecording: { method: 'DELETE', path: '/v1/cameras/{camera_id}/recording/' },
  startRecording: { method: 'POST', path: '/v1/cameras/{camera_id}/recording/start/' },
  stopRecording: { method: 'POST', path: '/v1/cameras/{camera_id}/recording/stop/' },
  deleteSharedCamera: { method: 'DELETE', path: '/v1/shared-cameras/{camera_id}/' },
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
  getServer: { method: 'GET', path: '/v1/server/' },
  updateMe: { method: 'PUT', path: '/v1/me/' },
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
  signOutUser: { method: 'POST', path: '/v1/users/{user_id}/sign-out/' },
  removeSecondFactor: { method: 'POST', path: '/v1/users/{user_id}/remove-second-factor/' },
  deleteUser: { method: 'DELETE', path: '/v1/users/{user_id}/' },
} as const satisfies Record<OperationName, { method: string; path: string }>
