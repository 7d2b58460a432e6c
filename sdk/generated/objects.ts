// Written by scripts/write-sdk.ts from the API description. Do not edit; change the contract instead.

/** An instant in an answer: `YYYY-MM-DDThh:mm:ssZ`. */
export type Timestamp = string

/** An instant in a request: a date, or ISO 8601 with `Z`, an offset, or no zone (UTC). */
export type Time = Date | string

export type Page<Item> = {
  /** Total number of items. */
  count: number
  /** URL of the next page; null on the last page. */
  next: string | null
  /** URL of the previous page; null on the first page. */
  previous: string | null
  results: Item[]
}

export type Account = {
  id: number
  email: string
  first_name: string
  last_name: string
  phone: string | null
  /** Owners manage the server and its users. */
  is_owner: boolean
  created_at: Timestamp
  disabled_at: Timestamp | null
  /** Whether signing in takes more than the password. */
  has_second_factor: boolean
  /** Whether the user may add and test cameras. False for guests, who only watch, until an owner changes it. */
  may_add_cameras: boolean
}

export type AccountChange = {
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  email?: string | undefined
  /** Ends all sessions and authorizations. */
  password?: string | undefined
  /** With `password`. */
  revoke_personal_tokens?: boolean | undefined
  is_owner?: boolean | undefined
  /** Blocks sign-in and permanently ends all sessions, authorizations and personal access tokens. The cameras keep running. */
  disabled?: boolean | undefined
  may_add_cameras?: boolean | undefined
  /** Current password of the calling owner. Required with `email`, `password`, and to make an owner. */
  own_password?: string | undefined
}

export type AccountRemovalProof = {
  /** Current password of the calling owner. Required always, except from the dashboard. */
  own_password?: string | undefined
}

export type AccountSignOut = {
  /** Also revoke personal access tokens. */
  revoke_personal_tokens?: boolean | undefined
}

export type Application = {
  id: number
  client_id: string
  /** Up to 100 visible characters. */
  name: string
  redirect_uris: string[]
  /** Whether the secret is also required for the password and refresh grants. */
  require_secret: boolean
  /** Whether the application may use the password grant. */
  allow_password: boolean
  /** Whether the application has a secret. Without one, it must use PKCE. */
  confidential: boolean
  /** The most scopes that the application can request. */
  scope: string
  created_at: Timestamp
}

export type ApplicationChange = {
  /** Up to 100 visible characters. */
  name?: string | undefined
  redirect_uris?: string[] | undefined
  /** Whether the secret is also required for the password and refresh grants. Default of a new application: false. */
  require_secret?: boolean | undefined
  /** Whether the application may use the password grant. Default of a new application: true. */
  allow_password?: boolean | undefined
  /** Scopes separated by spaces. The caller must have all of them. */
  scope?: string | undefined
  /** The user’s current password. Required to add a redirect URI or a scope, to allow the password grant, and to stop requiring the secret, except from the dashboard. */
  password?: string | undefined
}

export type ApplicationWithSecret = {
  id: number
  client_id: string
  /** Up to 100 visible characters. */
  name: string
  redirect_uris: string[]
  /** Whether the secret is also required for the password and refresh grants. */
  require_secret: boolean
  /** Whether the application may use the password grant. */
  allow_password: boolean
  /** Whether the application has a secret. Without one, it must use PKCE. */
  confidential: boolean
  /** The most scopes that the application can request. */
  scope: string
  created_at: Timestamp
  /** The secret. It is returned only here; null for a public application. */
  client_secret: string | null
}

export type Authorization = {
  id: number
  application: { name: string }
  scope: string
  created_at: Timestamp
  last_used_at: Timestamp
  last_ip: string
  /** What it was made with. */
  user_agent: string
  expires_at: Timestamp
}

export type Camera = {
  id: number
  name: string
  type: 'h264' | 'h265' | 'mjpeg'
  /** The kept image: taken after the camera first connects, then about every eight minutes while it is online. It stays while the camera is offline. Null until the camera has been connected for the first time. */
  snapshot: { url: string; created_at: Timestamp } | null
  status: 'online' | 'offline' | 'unknown'
  /** Credential for creating events of this camera. */
  event_api_hash: string
  /** URL of a live JPEG. It contains a query string; extra parameters are ignored. */
  live_snapshot: string
  /** For h264 and h265: mjpeg, mp4, mpegts, hls, in this order. For mjpeg: mjpeg. */
  streams: StreamEntry[]
  /** Contains `CRA` when recording is enabled. */
  applications: { code: string }[]
  /** Whether the camera is recorded. For a shared camera: and the caller is allowed to view recordings. */
  has_recording: boolean
  /** False only for mjpeg. Otherwise, `hls` has parts for low-latency players, unless key frames are more than 6 seconds apart. */
  low_latency_enabled: boolean
  /** Whether the camera sends audio. */
  audio_enabled: boolean
  /** Extension. Explains why the camera is offline; null while it is online. */
  status_reason: string | null
  /** Extension. Code of the reason for programs, the same as in connection tests; null while the camera is online. */
  status_code:
    | 'address_refused'
    | 'unknown_host'
    | 'unreachable'
    | 'timed_out'
    | 'tls_failed'
    | 'not_a_camera'
    | 'login_needed'
    | 'login_refused'
    | 'not_allowed'
    | 'no_such_stream'
    | 'busy'
    | 'redirected'
    | 'no_video'
    | 'unsupported'
    | 'no_frames'
    | 'suspended'
    | 'not_told'
    | 'failed'
    | null
  /** Extension. Status of the recording, so that a list of cameras shows which are being recorded; null where `has_recording` is false. */
  recording_status: 'READY' | 'CONNECTING' | 'RECORDING' | 'STOPPING' | 'ERROR' | null
  /** Extension. Whether frames damaged by packet loss are shown and recorded instead of being dropped up to the next key frame. */
  keeps_damaged_pictures: boolean
}

export type CameraChange = {
  /** Must not contain control characters or characters that change the text direction. */
  name?: string | undefined
  /** URL of the stream: rtsp://, rtsps://, or http:// or https:// for MJPEG, a container or a single JPEG. May contain a username and password. */
  url?: string | undefined
  /** Default: the type that the camera sends, or, if the camera does not respond immediately, h264, and mjpeg for http:// and https://. It is corrected when the camera is connected. */
  type?: 'h264' | 'h265' | 'mjpeg' | undefined
  /** Takes precedence over credentials in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
  /** Whether frames damaged by packet loss are kept. Default for new cameras: false. */
  keeps_damaged_pictures?: boolean | undefined
}

export type CameraSource = {
  /** Without credentials. Anything that looks like a password in the path or query is replaced with `***`. */
  url: string
  username: string | null
  /** Whether a password is stored. It is never returned. */
  has_password: boolean
}

export type CameraStatistics = {
  /** When the counters began at 0: when the server started or the camera was added. Null before the first report. */
  since: Timestamp | null
  /** Bits per second over the last minute, including audio; null while no frames are received. */
  bit_rate: number | null
  /** Frames per second over the last minute; null while no frames are received. */
  frame_rate: number | null
  /** Seconds of real time per second of timestamps: 1 if the clock of the camera is right, 2 if its timestamps advance at half speed; null while no frames are received. */
  clock_rate: number | null
  /** Percentage of the packets of the last ten minutes that were lost; null when there were none. */
  packet_loss_percent: number | null
  /** Percentage of the frames of the last ten minutes that were lost; null when there were none. */
  picture_loss_percent: number | null
  /** RTP packets received; 0 for a camera that sends by HTTP. */
  packets: number
  /** RTP packets that never arrived. */
  lost_packets: number
  /** Frames received completely. */
  pictures: number
  /** Frames that were lost, and frames dropped because part of them, or of a frame they depend on, was lost. */
  lost_pictures: number
  /** Number of times that no frame was received for more than a second while the camera was connected. */
  freezes: number
  /** Total length of the freezes. */
  frozen_seconds: number
  /** Connections on which at least one frame was received. */
  connections: number
  /** What the camera does that standards forbid or leave open, and that the server understands: `client_directions`, `source_changes`, `sequence_steps`, `unusable_timestamps`, `joined_units`, `empty_fragments`, `private_units`, `transport_headers`, `head_lines`. More may be added. */
  deviations: string[]
}

export type CameraStorage = {
  id: number
  /** Size of the footage, including footage that is being recorded. */
  used_bytes: number
  /** Size limit of its footage; null means no limit. */
  max_bytes: number | null
  /** Bytes recorded in the last 24 hours. */
  bytes_per_day: number
  recording_start: Timestamp | null
  /** Retention in days. */
  retention_days: number | null
  /** How many days back the footage will reach at the current rate; null if the camera is not recorded or has not been recorded long enough. */
  forecast_days: number | null
}

export type CreatedPersonalToken = {
  id: number
  name: string
  scope: string
  /** First characters of the token. */
  prefix: string
  /** Last characters of the token. */
  last_four: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  expires_at: Timestamp | null
  /** The token itself. It is returned only here. */
  token: string
}

export type DetectedAudio = {
  /** For example `aac`, `opus`, `pcmu`, `pcma` or `g726-32`. */
  codec: string
  /** Hz. */
  sample_rate: number
  channels: number
}

export type DetectedVideo = {
  type: 'h264' | 'h265' | 'mjpeg'
  /** Codec with profile and level (RFC 6381); null if no frame was received. */
  codec: string | null
  /** Pixels. */
  width: number | null
  /** Pixels. */
  height: number | null
  /** Frames per second; null if it could not be measured in time. */
  frame_rate: number | null
  /** Bits per second; null if it could not be measured in time. */
  bit_rate: number | null
  /** Seconds from one key frame to the next; null if it could not be measured in time. */
  key_frame_interval: number | null
}

export type DetectionProblem = {
  /** `address_refused`: cameras are not allowed at this address. `not_a_camera`: something other than a camera responds at this port. `unsupported`: the server cannot read this kind of stream. `no_frames`: the camera responds but sends no video. `not_told`: no video was found in a private network; only owners of the server are shown the reason. */
  code:
    | 'address_refused'
    | 'unknown_host'
    | 'unreachable'
    | 'timed_out'
    | 'tls_failed'
    | 'not_a_camera'
    | 'login_needed'
    | 'login_refused'
    | 'not_allowed'
    | 'no_such_stream'
    | 'busy'
    | 'redirected'
    | 'no_video'
    | 'unsupported'
    | 'no_frames'
    | 'suspended'
    | 'not_told'
    | 'failed'
  /** What is wrong and what to try, for people. */
  detail: string
  /** Common URLs on this host, if the path seems to be wrong. They have not been tested. */
  suggestions: SuggestedUrl[]
}

export type DiscoveredDevice = {
  /** Identifier of the device, independent of its address; usually a URN. */
  id: string
  /** Address that the device responded from. */
  address: string
  /** URL of the device service. Use it to list the streams of the device. */
  url: string
  /** Name that the device reports. */
  name: string | null
  /** Model that the device reports. */
  hardware: string | null
  /** Location that the device reports. */
  location: string | null
}

export type Download = { url: string }

export type CameraEvent = {
  id: number
  camera: number
  site: null
  title: string | null
  category: string
  /** Where the event comes from: a program with a token, a device with the camera’s hash, the camera itself, or this server. */
  source: 'api' | 'device' | 'camera' | 'system'
  occurred_at: Timestamp
  received_at: Timestamp
  /** JSON data that was sent with the event; null if there was none. */
  data: unknown
}

/** Reasons by field, `{field: ["reason", …]}`, nested like the request. */
export type FieldErrors = { [name: string]: string[] | FieldErrors }

export type Guest = {
  id: number
  email: string
  first_name: string | null
  last_name: string | null
  permissions: { can_view_rec: boolean; share_notifications: boolean }
}

export type GuestChange = {
  permissions?:
    | {
        /** Whether the guest can view recordings. */
        can_view_rec?: boolean | undefined
        /** Whether the guest is notified of events. */
        share_notifications?: boolean | undefined
      }
    | undefined
}

export type GuestLink = {
  /** Whoever opens it can create an account with the address of the guest. It works once, within 7 days. */
  link: string
}

export type Identity = {
  id: number
  /** Null if the provider is no longer configured on the server. Then the identity cannot be used to sign in. */
  provider: { id: string; name: string } | null
  /** OpenID Connect issuer identifier of the provider. */
  issuer: string
  /** Email address that the provider reported last. For display only. */
  email: string | null
  created_at: Timestamp
  last_used_at: Timestamp | null
}

export type IdentityProvider = {
  id: string
  name: string
  /** Whether the caller has linked an account at this provider. */
  is_linked: boolean
  /** Page of this server where a person can link an account at the provider. */
  link_url: string
}

export type MeChange = {
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  /** Emails when an own camera goes offline or its recording fails. */
  outage_mails?: boolean | undefined
  /** New email address. Requires `password`. It takes effect when the link sent to it is opened. */
  email?: string | undefined
  /** New password. Requires `password`. Setting it ends all sessions and authorizations. */
  new_password?: string | undefined
  /** Current password. */
  password?: string | undefined
  /** With `new_password`: also revoke personal access tokens. */
  revoke_personal_tokens?: boolean | undefined
}

export type NewAccount = {
  email: string
  password: string
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  is_owner?: boolean | undefined
  /** Current password of the calling owner. Required always, except from the dashboard. */
  own_password?: string | undefined
}

export type NewApplication = {
  redirect_uris?: string[] | undefined
  /** Whether the secret is also required for the password and refresh grants. Default of a new application: false. */
  require_secret?: boolean | undefined
  /** Whether the application may use the password grant. Default of a new application: true. */
  allow_password?: boolean | undefined
  /** Scopes separated by spaces. The caller must have all of them. */
  scope?: string | undefined
  /** Up to 100 visible characters. */
  name: string
  /** Default: true. */
  confidential?: boolean | undefined
  /** The user’s current password. Required, except from the dashboard. */
  password?: string | undefined
}

export type NewCamera = {
  /** Must not contain control characters or characters that change the text direction. */
  name: string
  /** URL of the stream: rtsp://, rtsps://, or http:// or https:// for MJPEG, a container or a single JPEG. May contain a username and password. */
  url: string
  /** Default: the type that the camera sends, or, if the camera does not respond immediately, h264, and mjpeg for http:// and https://. It is corrected when the camera is connected. */
  type?: 'h264' | 'h265' | 'mjpeg' | undefined
  /** Takes precedence over credentials in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
}

export type NewDetection = {
  /** URL of the stream. For owners of the server a host is enough, with its port or without: the server asks it by ONVIF and then tries common URLs, until one has a stream or a login is needed. */
  url: string
  /** Takes precedence over credentials in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
}

export type NewEvent = {
  /** `id` of one of the caller’s cameras. */
  camera?: number | undefined
  /** The `event_api_hash` of a camera. */
  hash?: string | undefined
  title?: string | null | undefined
  /** Default: `generic`. */
  category?: string | undefined
  /** Default: now. At most one day in the future. */
  occurred_at?: Time | undefined
  /** Any JSON value of up to 4 KiB and 16 levels. Only allowed with a token. */
  data?: unknown
}

export type NewGuest = {
  email: string
  permissions?:
    | {
        /** Whether the guest can view recordings. */
        can_view_rec?: boolean | undefined
        /** Whether the guest is notified of events. */
        share_notifications?: boolean | undefined
      }
    | undefined
}

export type NewInvitation = { email: string }

export type NewPersonalToken = {
  name?: string | undefined
  /** Scopes separated by spaces. The caller must have all of them. Default: `user_access`. */
  scope?: string | undefined
  /** When the token stops working. Default: null, never. */
  expires_at?: Time | null | undefined
  /** Current password of the user. Required for `account_manage`. */
  password?: string | undefined
}

export type NewRecording = {
  /** ISO 8601 duration of weeks, or of days, hours, minutes and seconds, up to 100 years; for example P7D. It is stored and returned as sent. */
  retention: string
  /** Null means no limit. If it is omitted, a recording that is on keeps its limit, and a new one has none. */
  max_bytes?: number | null | undefined
  /** How long footage stays on the local disks before it moves to a bucket, for example P7D. Null: as configured for the bucket. Without a bucket, it has no effect. */
  local_retention?: string | null | undefined
}

export type OnvifDevice = {
  /** URL of the device service that was used, without credentials. */
  url: string
  /** Null if the device could not be reached. */
  manufacturer: string | null
  /** Null if the device could not be reached. */
  model: string | null
  /** Null if the device could not be reached. */
  firmware_version: string | null
  profiles: OnvifProfile[]
  /** Why the result is incomplete; null if it is complete. */
  problem: {
    /** `address_refused`: cameras are not allowed at this address. `not_a_camera`: something other than a camera responds at this port. `unsupported`: the server cannot read this kind of stream. `no_frames`: the camera responds but sends no video. `not_told`: no video was found in a private network; only owners of the server are shown the reason. */
    code:
      | 'address_refused'
      | 'unknown_host'
      | 'unreachable'
      | 'timed_out'
      | 'tls_failed'
      | 'not_a_camera'
      | 'login_needed'
      | 'login_refused'
      | 'not_allowed'
      | 'no_such_stream'
      | 'busy'
      | 'redirected'
      | 'no_video'
      | 'unsupported'
      | 'no_frames'
      | 'suspended'
      | 'not_told'
      | 'failed'
    /** What is wrong and what to try, for people. */
    detail: string
  } | null
}

export type OnvifDeviceSource = {
  /** Of the device service, as discovery tells it: http://192.168.1.20/onvif/device_service. A host alone, with its port or without, is enough. */
  url: string
  /** Takes precedence over credentials in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
}

export type OnvifDiscovery = {
  /** Sorted by address. */
  devices: DiscoveredDevice[]
}

export type OnvifProfile = {
  /** Token of the profile, unique within the device. */
  token: string
  name: string
  /** `main` for the profile with the highest resolution, `sub` for one that is small enough for tiles, and null for the others. */
  use: 'main' | 'sub' | null
  /** Null if the server does not support the encoding. */
  type: 'h264' | 'h265' | 'mjpeg' | null
  /** Name of the encoding as the device reports it. */
  encoding: string | null
  width: number | null
  height: number | null
  /** Configured maximum frame rate, in frames per second. */
  frame_rate: number | null
  /** Configured maximum bit rate, in bits per second. */
  bit_rate: number | null
  has_audio: boolean
  /** URL of the stream, without credentials. Use it as the `url` of a new camera. If it is null, see `url_problem`. */
  url: string | null
  /** Explains why `url` is null. */
  url_problem: string | null
  /** URL of a single JPEG image. */
  snapshot_url: string | null
}

export type PersonalToken = {
  id: number
  name: string
  scope: string
  /** First characters of the token. */
  prefix: string
  /** Last characters of the token. */
  last_four: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  expires_at: Timestamp | null
}

export type PlaceStorage = {
  id: number
  folder: string
  /** `away`: the disk is not mounted. `foreign`: the folder belongs to another installation, or is another place. `silent`: the disk does not respond. `refused`: the store of a bucket refuses requests. */
  state: 'ready' | 'away' | 'foreign' | 'read_only' | 'silent' | 'refused'
  /** What is wrong, and what to do about it. */
  state_detail: string | null
  /** New recordings are spread over the places in proportion to their weights. */
  weight: number
  /** No new recordings are stored in this place. */
  is_draining: boolean
  /** Size of the footage, including footage that is being recorded. */
  used_bytes: number
  /** Size of the disk; null if it is not there. */
  disk_bytes: number | null
  disk_free_bytes: number | null
  /** Space that is always kept free. */
  min_free_bytes: number | null
  /** When, at the current rate, footage will be deleted before its retention ends because of insufficient space; null if never. */
  full_at: Timestamp | null
}

export type Problem = {
  /** The HTTP status. */
  status: number
  /** Short identifier for programs. */
  title: string
  /** Explanation for people. */
  detail: string
  errors?: FieldErrors
}

export type RecordedImages = {
  /** Append `&at=` and a time (ISO 8601) to get the latest key frame up to that time as a JPEG in the requested size. Valid for two hours. */
  url: string
}

export type RecordedStream = {
  format: 'hls'
  url: string
  stream_info: string
  stream_controls: {
    base_url: string
    /** Send a POST request; the response is 204. The same applies to the other two. */
    play: string
    pause: string
    /** Send `{"speed": 4}` as body, or `?speed=4`. Allowed speeds are 1 (default), 2, 4, 8 and 16. Above 1, the stream contains only key frames and no audio. */
    speed: string
  }
}

export type Recording = {
  id: number
  active_service_id: number
  status: 'READY' | 'CONNECTING' | 'RECORDING' | 'STOPPING' | 'ERROR'
  /** How long footage is kept, as an ISO 8601 duration, for example P7D. */
  retention: string
  deactivated_at: Timestamp | null
  recording_start: Timestamp | null
  recording_end: Timestamp | null
  /** Extension. Explains the problem while `status` is ERROR. */
  status_reason: string | null
  /** Extension. Size limit of the footage in bytes. The oldest footage is deleted first. */
  max_bytes: number | null
  /** Extension. How long footage stays on the local disks before it moves to a bucket, as an ISO 8601 duration. Null: as configured for the bucket. */
  local_retention: string | null
}

export type RecordingChange = {
  /** ISO 8601 duration of weeks, or of days, hours, minutes and seconds, up to 100 years; for example P7D. It is stored and returned as sent. */
  retention?: string | undefined
  /** Null means no limit. If it is omitted, a recording that is on keeps its limit, and a new one has none. */
  max_bytes?: number | null | undefined
  /** How long footage stays on the local disks before it moves to a bucket, for example P7D. Null: as configured for the bucket. Without a bucket, it has no effect. */
  local_retention?: string | null | undefined
}

export type SecondFactorRemoval = {
  /** Also revoke personal access tokens. */
  revoke_personal_tokens?: boolean | undefined
  /** Current password of the calling owner. Required always, except from the dashboard. */
  own_password?: string | undefined
}

export type SecretRotation = {
  /** The user’s current password. Required, except from the dashboard. */
  password?: string | undefined
}

export type ServerState = {
  version: string
  started_at: Timestamp
  database: 'sqlite' | 'postgresql'
  /** folder: no mail server is configured, invitations wait in the folder outbox for somebody to pass them on. */
  mail: 'smtp' | 'folder'
  /** Emails that the mail server has not taken yet. They are tried again and again. */
  mails_waiting: number
  /** Why the latest attempt to send an email failed, and which setting may be wrong. Null if it succeeded. */
  mail_problem: string | null
  /** Devices can be made to trust the certificate of the server: the page /certificate/ has the file and the steps. */
  has_own_authority: boolean
  cameras: {
    /** Of all users. */
    count: number
    online: number
    offline: number
    /** Not connected yet, or not at present: nobody watches them. */
    unknown: number
    /** Reason such as camera_unreachable or auth_failed. The most frequent comes first. */
    offline_reasons: { reason: string; count: number }[]
  }
  recordings: {
    /** Cameras that are to be recorded. */
    count: number
    /** Being written at the moment. */
    recording: number
    /** Cannot be written; see `status_reason` of the recording. */
    failing: number
  }
  workers: {
    /** Threads that handle what cameras send. */
    count: number
    running: number
    /** Since the start of the server. */
    restarts: number
  }
  /** The servers of the PostgreSQL database, this one too, by name; those that are gone for a day. Empty with SQLite. */
  servers: {
    name: string
    /** It has reported within the last eight seconds that it runs. */
    answers: boolean
    /** It connects and records cameras. Others only answer. */
    has_cameras: boolean
    /** Cameras that it has now. */
    cameras: number
    /** Why it has these cameras. */
    cameras_by: {
      /** That ask for this server: `nightjar camera place`. */
      name: number
      /** That ask for a label, which this server has. */
      label: number
      /** That are spread over all servers. */
      spread: number
      /** That belong to another server, which gets them soon. */
      moving: number
    }
    /** It gives its cameras to others: `nightjar node drain`. */
    is_draining: boolean
    /** What cameras may ask for: `nightjar node label`. */
    labels: string[]
    /** Where other servers reach it; null if they cannot. */
    peer_address: string | null
    version: string
    started_at: Timestamp
    reported_until: Timestamp
  }[]
  decoder_isolation: {
    /** What a decoding process cannot access if a camera takes it over. full: at least network, files, processes, system_calls and memory. */
    level: 'full' | 'partial' | 'off'
    /** Protections in force. */
    in_force: (
      | 'network'
      | 'files'
      | 'processes'
      | 'system_calls'
      | 'memory'
      | 'threads'
      | 'privileges'
      | 'permission_model'
    )[]
    /** Protections not in force. */
    missing: (
      | 'network'
      | 'files'
      | 'processes'
      | 'system_calls'
      | 'memory'
      | 'threads'
      | 'privileges'
      | 'permission_model'
    )[]
    /** Why protections are missing. */
    reason: string | null
    /** What an owner of the server can do about it. */
    advice: string | null
  }
}

export type BrowserSession = {
  id: string
  created_at: Timestamp
  last_seen_at: Timestamp
  ip: string
  user_agent: string | null
  /** The second factor of the last sign-in: a code of an authenticator app, a passkey (which may have been used alone), or a recovery code. Null if there was none or if it was not recorded. */
  second_factor: 'app' | 'passkey' | 'recovery_code' | null
  second_factor_at: Timestamp | null
  /** Whether the request comes from the dashboard in this browser session. */
  is_current: boolean
}

export type SharedCamera = {
  id: number
  name: string
  type: 'h264' | 'h265' | 'mjpeg'
  /** The kept image: taken after the camera first connects, then about every eight minutes while it is online. It stays while the camera is offline. Null until the camera has been connected for the first time. */
  snapshot: { url: string; created_at: Timestamp } | null
  status: 'online' | 'offline' | 'unknown'
  /** URL of a live JPEG. It contains a query string; extra parameters are ignored. */
  live_snapshot: string
  /** For h264 and h265: mjpeg, mp4, mpegts, hls, in this order. For mjpeg: mjpeg. */
  streams: StreamEntry[]
  /** Contains `CRA` when recording is enabled. */
  applications: { code: string }[]
  /** Whether the camera is recorded. For a shared camera: and the caller is allowed to view recordings. */
  has_recording: boolean
  /** False only for mjpeg. Otherwise, `hls` has parts for low-latency players, unless key frames are more than 6 seconds apart. */
  low_latency_enabled: boolean
  /** Whether the camera sends audio. */
  audio_enabled: boolean
  owner: { email: string; first_name: string; last_name: string }
  has_notifications: boolean
  /** Extension. Status of the recording, so that a list of cameras shows which are being recorded; null where `has_recording` is false. */
  recording_status: 'READY' | 'CONNECTING' | 'RECORDING' | 'STOPPING' | 'ERROR' | null
}

export type Storage = {
  /** Size of the footage, including footage that is being recorded. */
  used_bytes: number
  /** Size limit of the footage of all cameras of the user together; null means no limit. */
  max_bytes: number | null
  /** What the footage of a user who does not own the server may have when there is no room for more: the limit, or a tenth of the space for all footage. What is beyond it is deleted first. Null for owners of the server, and while the disk does not respond. */
  share_bytes: number | null
  /** Bytes recorded in the last 24 hours. */
  bytes_per_day: number
  /** When, at the current rate, footage will be deleted before its retention ends because of insufficient space; null if never. */
  full_at: Timestamp | null
  /** Cameras of the user that have footage or are recorded. */
  cameras: CameraStorage[]
  /** Storage of all users together. For owners of the server; otherwise null. */
  server: {
    /** Size of the footage, including footage that is being recorded. */
    used_bytes: number
    /** Size limit of all footage; null means no limit. */
    max_bytes: number | null
    /** Bytes recorded in the last 24 hours. */
    bytes_per_day: number
    /** Size of the disk; null if it does not respond or is not mounted. */
    disk_bytes: number | null
    disk_free_bytes: number | null
    /** Space that is always kept free. */
    min_free_bytes: number | null
    /** When, at the current rate, footage will be deleted before its retention ends because of insufficient space; null if never. */
    full_at: Timestamp | null
    /** Places of recordings. Each is a folder, usually on its own disk. */
    places: PlaceStorage[]
    /** Present for 24 hours after the clock of the server moved forward by more than ten minutes, because the server was off or the clock was set: footage that is too old only because of this is kept meanwhile. Null otherwise. */
    clock_doubt: {
      /** How far the clock has moved beyond the time that the server was running. */
      ahead_seconds: number
      /** How much longer the server must run before it trusts the clock. */
      remaining_seconds: number
    } | null
    /** Repair of files that were open when the server, or a part of it, ended unexpectedly; null when none is left. */
    repair: {
      /** Number of files that are waiting to be repaired. */
      pending_files: number
      /** Number of files repaired since the server started. */
      repaired_files: number
      /** Number of files that could not be read or written. The server tries them again. */
      failed_files: number
    } | null
  } | null
}

export type StorageChange = {
  /** Null means no limit. */
  max_bytes: number | null
}

export type StreamDetection = {
  /** The URL that was probed, without credentials. Anything that looks like a password is replaced with `***`. For a host, the URL that was found there; use it to add the camera. */
  url: string
  /** Type to use when you add the camera; null if unknown. */
  type: 'h264' | 'h265' | 'mjpeg' | null
  /** `http_stream`: MJPEG, or a container such as MPEG-TS. `http_picture`: a single JPEG that the server requests repeatedly. */
  transport: 'rtsp_tcp' | 'rtsp_udp' | 'http_stream' | 'http_picture' | null
  video: DetectedVideo | null
  audio: DetectedAudio | null
  /** Why the audio cannot be used; null if it can. */
  audio_problem: string | null
  /** A small JPEG of the newest key frame. */
  snapshot: {
    /** A `data:` URL. */
    url: string
    width: number
    height: number
  } | null
  problem: DetectionProblem | null
}

export type StreamEntry = {
  format: 'mjpeg' | 'mp4' | 'mpegts' | 'hls'
  url: string
  /** Present for `mjpeg` if the request set it. */
  refresh_rate?: number
}

export type StreamInfo = {
  current_time: Timestamp
  /** Seconds since the start of the stream. */
  current_position: number
  speed: number
  state: 'playing' | 'paused'
}

export type SuggestedUrl = {
  /** Manufacturer whose cameras use this path. */
  maker: string
  /** URL on the host of the request, without credentials. */
  url: string
}

export type TestMail = {
  /** The address of the caller. */
  to: string
  sent: boolean
  /** Why it was not sent, and which setting may be wrong. */
  problem: string | null
}

export type Timeline = {
  start: Timestamp
  end: Timestamp
  segments: { start: Timestamp; end: Timestamp }[]
  gaps: {
    start: Timestamp
    end: Timestamp
    /** One of these; later versions add others. camera_unreachable: No connection to the camera could be made, or it was lost. auth_failed: The camera refused the username or password. no_frames: The camera was connected but sent no video. packet_loss: Packets from the camera were lost, and no complete frame arrived for more than a second. stream_changed: The camera changed its stream, or the stream had to be started again. clock_set: The server's or the camera's clock was set to another time. camera_suspended: The server stopped reading this camera for a while because its stream harmed the server. stopped_by_user: Recording was turned off. disk_full: The disk was full. disk_failed: The disk could not be written to. overload: The server could not keep up. server_down: The server was not running. node_lost: The server that recorded the camera was lost, or gave the camera to another one. damaged: The footage was recorded, but the file was damaged afterwards. unknown: The reason was not recorded. */
    reason: string
  }[]
}

export type User = {
  id: number
  email: string
  first_name: string
  last_name: string
  phone: string | null
  /** Equal to `id`. */
  root_site: number
  my_cameras_count: number
  shared_cameras_count: number
  total_cameras_count: number
  cameras_with_guests_count: number
  require_qualification: boolean
  available_features: { live_view: boolean; connect_camera: boolean }
  /** Extension. Owners manage the server and its users. */
  is_owner: boolean
  /** Extension. Whether the user gets an email when an own camera goes offline or its recording fails, where a mail server is configured. */
  outage_mails: boolean
}
