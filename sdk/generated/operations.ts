// Written from the contract by scripts/write-sdk.ts; change the contract, not this.

import type {
  Account,
  AccountChange,
  AccountRemoval,
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
  PicturesQuery,
  RecordedPictures,
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
  /** The current user. */
  getMe: { result: User }
  /** Cameras of the current user. */
  listCameras: { query?: CameraListQuery; result: Page<Camera> }
  /** One camera of the current user. */
  getCamera: { params: { camera_id: number }; query?: CameraQuery; result: Camera }
  /** Cameras others share with the current user. */
  listSharedCameras: { query?: CameraListQuery; result: Page<SharedCamera> }
  /** One shared camera. */
  getSharedCamera: { params: { camera_id: number }; query?: CameraQuery; result: SharedCamera }
  /** Where a recorded stream is being played. */
  getStreamInfo: { params: { streamer_name: string; streamer_id: string }; result: StreamInfo }
  /** General recording information. */
  getRecording: { params: { camera_id: number }; result: Recording }
  /** When there is footage. */
  getTimeline: { params: { camera_id: number }; query: TimelineQuery; result: Timeline }
  /** Creates and returns a recorded stream of a time range. */
  createStream: { params: { camera_id: number }; query: StreamQuery; result: RecordedStream }
  /** General recording information of a shared camera. */
  getSharedRecording: { params: { camera_id: number }; result: Recording }
  /** When there is footage of a shared camera. */
  getSharedTimeline: { params: { camera_id: number }; query: TimelineQuery; result: Timeline }
  /** Creates and returns a recorded stream of a shared camera. */
  createSharedStream: { params: { camera_id: number }; query: StreamQuery; result: RecordedStream }
  /** Guests of a camera. */
  listGuests: { params: { camera_id: number }; query?: PageQuery; result: Page<Guest> }
  /** Invites a guest. */
  createGuest: { params: { camera_id: number }; body: NewGuest; result: Guest }
  /** One guest. */
  getGuest: { params: { camera_id: number; guest_id: number }; result: Guest }
  /** Changes what a guest may do. */
  updateGuest: { params: { camera_id: number; guest_id: number }; body: GuestChange; result: Guest }
  /** Removes a guest. */
  deleteGuest: { params: { camera_id: number; guest_id: number }; result: undefined }
  /** Events of all cameras of the current user. */
  listEvents: { query?: EventQuery; result: Page<CameraEvent> }
  /** Creates an event. */
  createEvent: { body: NewEvent; result: CameraEvent }
  /** Events of one camera. */
  listCameraEvents: { params: { camera_id: number }; query?: EventQuery; result: Page<CameraEvent> }
  /** Adds a camera. An extension of the interface. */
  createCamera: { body: NewCamera; result: Camera }
  /** Changes a camera. An extension of the interface. */
  updateCamera: { params: { camera_id: number }; body: CameraChange; result: Camera }
  /** Where a camera is, for who may change it. An extension of the interface. */
  getCameraSource: { params: { camera_id: number }; result: CameraSource }
  /** Removes a camera and its footage. An extension of the interface. */
  deleteCamera: { params: { camera_id: number }; result: undefined }
  /** Gives the camera a new `event_api_hash`. An extension of the interface. */
  rotateEventHash: { params: { camera_id: number }; result: Camera }
  /** Turns recording on. An extension of the interface. */
  enableRecording: { params: { camera_id: number }; body: NewRecording; result: Recording }
  /** Changes how long footage is kept. An extension of the interface. */
  updateRecording: { params: { camera_id: number }; body: RecordingChange; result: Recording }
  /** Turns recording off. An extension of the interface. */
  disableRecording: { params: { camera_id: number }; result: undefined }
  /** Starts recording that was stopped. An extension of the interface. */
  startRecording: { params: { camera_id: number }; query?: StartQuery; result: undefined }
  /** Stops recording, and keeps it turned on. An extension of the interface. */
  stopRecording: { params: { camera_id: number }; result: undefined }
  /** Gives up a camera that somebody shares. An extension of the interface. */
  deleteSharedCamera: { params: { camera_id: number }; result: undefined }
  /** Looks what is at the address of a camera. An extension of the interface. */
  detectStream: { body: NewDetection; result: StreamDetection }
  /** Asks the local network of the server for cameras. An extension of the interface. */
  discoverDevices: { result: OnvifDiscovery }
  /** Asks a camera for its streams. An extension of the interface. */
  readDevice: { body: OnvifDeviceSource; result: OnvifDevice }
  /** Where pictures of recorded moments are. An extension of the interface. */
  getPictures: { params: { camera_id: number }; query?: PicturesQuery; result: RecordedPictures }
  /** Where pictures of recorded moments of a shared camera are. An extension of the interface. */
  getSharedPictures: { params: { camera_id: number }; query?: PicturesQuery; result: RecordedPictures }
  /** Where a time range is as one MP4 file. An extension of the interface. */
  createDownload: { params: { camera_id: number }; query: DownloadQuery; result: Download }
  /** Where a time range of a shared camera is as one MP4 file. An extension of the interface. */
  createSharedDownload: { params: { camera_id: number }; query: DownloadQuery; result: Download }
  /** How well the pictures of a camera arrive. An extension of the interface. */
  getCameraStatistics: { params: { camera_id: number }; result: CameraStatistics }
  /** How much space recordings take, and how long it will do. An extension of the interface. */
  getStorage: { result: Storage }
  /** As /v1/me/storage/, of a user; for owners. An extension of the interface. */
  getUserStorage: { params: { user_id: number }; result: Storage }
  /** Limits the space of a user’s recordings; for owners. An extension of the interface. */
  updateUserStorage: { params: { user_id: number }; body: StorageChange; result: Storage }
  /** How the server is doing; for owners. An extension of the interface. */
  getServer: { result: ServerState }
  /** Changes the current user. An extension of the interface. */
  updateMe: { body: MeChange; result: User }
  /** Personal access tokens of the current user. An extension of the interface. */
  listTokens: { query?: PageQuery; result: Page<PersonalToken> }
  /** Creates a personal access token and shows it, this once. An extension of the interface. */
  createToken: { body: NewPersonalToken; result: CreatedPersonalToken }
  /** Revokes a personal access token. An extension of the interface. */
  deleteToken: { params: { token_id: number }; result: undefined }
  /** Applications that the current user has registered. An extension of the interface. */
  listApplications: { query?: PageQuery; result: Page<Application> }
  /** Registers an application and shows its secret, this once. An extension of the interface. */
  createApplication: { body: NewApplication; result: ApplicationWithSecret }
  /** One application of the current user. An extension of the interface. */
  getApplication: { params: { application_id: number }; result: Application }
  /** Changes an application. An extension of the interface. */
  updateApplication: { params: { application_id: number }; body: ApplicationChange; result: Application }
  /** Removes an application and ends everything granted to it. An extension of the interface. */
  deleteApplication: { params: { application_id: number }; result: undefined }
  /** Gives an application a new secret and shows it, this once. An extension of the interface. */
  rotateApplicationSecret: { params: { application_id: number }; result: ApplicationWithSecret }
  /** What the current user has granted to applications. An extension of the interface. */
  listAuthorizations: { query?: PageQuery; result: Page<Authorization> }
  /** Ends what was granted, with all its tokens. An extension of the interface. */
  deleteAuthorization: { params: { authorization_id: number }; result: undefined }
  /** Browsers in which the current user is signed in. An extension of the interface. */
  listSessions: { query?: PageQuery; result: Page<BrowserSession> }
  /** Signs a browser out. An extension of the interface. */
  deleteSession: { params: { session_id: string }; result: undefined }
  /** Identity providers that people may sign in with. An extension of the interface. */
  listIdentityProviders: { query?: PageQuery; result: Page<IdentityProvider> }
  /** Accounts at identity providers that sign in to the account of the current user. An extension of the interface. */
  listIdentities: { query?: PageQuery; result: Page<Identity> }
  /** Removes the link with an account at an identity provider. An extension of the interface. */
  deleteIdentity: { params: { identity_id: number }; result: undefined }
  /** All accounts; for owners. An extension of the interface. */
  listUsers: { query?: PageQuery; result: Page<Account> }
  /** Makes an account; for owners. An extension of the interface. */
  createUser: { body: NewAccount; result: Account }
  /** Sends somebody a link to make an account; for owners. An extension of the interface. */
  inviteUser: { body: NewInvitation; result: undefined }
  /** One account; for owners. An extension of the interface. */
  getUser: { params: { user_id: number }; result: Account }
  /** Changes an account; for owners. An extension of the interface. */
  updateUser: { params: { user_id: number }; body: AccountChange; result: Account }
  /** Ends all sessions and authorizations of an account; for owners. An extension of the interface. */
  signOutUser: { params: { user_id: number }; body: AccountSignOut; result: undefined }
  /** Removes an account; for owners. An extension of the interface. */
  deleteUser: { params: { user_id: number }; query?: AccountRemoval; result: undefined }
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
  deleteUser: { method: 'DELETE', path: '/v1/users/{user_id}/' },
} as const satisfies Record<OperationName, { method: string; path: string }>
