// Written from the contract by scripts/write-sdk.ts; change the contract, not this.

/** An instant in an answer: `YYYY-MM-DDThh:mm:ssZ`. */
export type Timestamp = string

/** An instant in a request: a date, or ISO 8601 with `Z`, an offset, or no zone (UTC). */
export type Time = Date | string

export type Page<Item> = {
  /** Items in the whole set. */
  count: number
  /** Link to the next page; null at the end of the set. */
  next: string | null
  /** Link to the previous page; null at the start. */
  previous: string | null
  results: Item[]
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
}

export type Camera = {
  id: number
  name: string
  type: 'h264' | 'h265' | 'mjpeg'
  /** The newest kept picture; null until the camera was first connected. */
  snapshot: { url: string; created_at: Timestamp } | null
  status: 'online' | 'offline' | 'unknown'
  /** Credential for creating events of this camera. */
  event_api_hash: string
  /** A JPEG of now. Contains a query; extra parameters are ignored. */
  live_snapshot: string
  /** h264, h265: mjpeg, mp4, mpegts, hls in this order; mjpeg: mjpeg. */
  streams: StreamEntry[]
  /** `CRA` when recording is enabled. */
  applications: { code: string }[]
  /** It is recorded; of a shared camera, and this guest may view that. */
  has_recording: boolean
  /** False for mjpeg alone. */
  low_latency_enabled: boolean
  /** It sends sound. */
  audio_enabled: boolean
  /** Extension. Why the camera is offline, as a readable sentence; null while it is online. */
  status_reason: string | null
  /** Extension. The same as a word for programs, as the detection of streams has them; null while it is online. */
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
  /** Extension. Pictures damaged by loss are shown and recorded as they come, instead of being dropped up to the next key frame. */
  keeps_damaged_pictures: boolean
}

export type CameraChange = {
  /** Without control characters, and without those that change the direction of text. */
  name?: string | undefined
  /** Where the stream is: rtsp://, rtsps://, or http:// or https:// for MJPEG and for a single picture; may carry user information. */
  url?: string | undefined
  /** When missing, what the camera is seen to send; when it does not answer at once h264, or mjpeg for http:// and https://. Corrected once the camera is connected. */
  type?: 'h264' | 'h265' | 'mjpeg' | undefined
  /** Wins over user information in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
  /** Keep pictures damaged by loss as they come; false for new cameras. */
  keeps_damaged_pictures?: boolean | undefined
}

export type CameraListQuery = {
  /** Items per page; 100 when missing, more than 1000 is treated as 1000. */
  limit?: number | undefined
  /** Items to skip; 0 when missing. */
  offset?: number | undefined
  /** At most this many key frames per second in the MJPEG stream; 0.1 is one every 10 seconds. */
  refresh_rate?: number | undefined
  /** Widest MJPEG stream and live snapshot, in pixels; rounded down to one of a few sizes. */
  max_width?: number | undefined
  /** Highest MJPEG stream and live snapshot, in pixels; rounded down to one of a few sizes. */
  max_height?: number | undefined
}

export type CameraQuery = {
  /** At most this many key frames per second in the MJPEG stream; 0.1 is one every 10 seconds. */
  refresh_rate?: number | undefined
  /** Widest MJPEG stream and live snapshot, in pixels; rounded down to one of a few sizes. */
  max_width?: number | undefined
  /** Highest MJPEG stream and live snapshot, in pixels; rounded down to one of a few sizes. */
  max_height?: number | undefined
}

export type CameraSource = {
  /** Without user information; what a password in its path or query looks like stands as `***`. */
  url: string
  username: string | null
  /** A password is kept; it is never shown. */
  has_password: boolean
}

export type NewCamera = {
  /** Without control characters, and without those that change the direction of text. */
  name: string
  /** Where the stream is: rtsp://, rtsps://, or http:// or https:// for MJPEG and for a single picture; may carry user information. */
  url: string
  /** When missing, what the camera is seen to send; when it does not answer at once h264, or mjpeg for http:// and https://. Corrected once the camera is connected. */
  type?: 'h264' | 'h265' | 'mjpeg' | undefined
  /** Wins over user information in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
}

export type SharedCamera = {
  id: number
  name: string
  type: 'h264' | 'h265' | 'mjpeg'
  /** The newest kept picture; null until the camera was first connected. */
  snapshot: { url: string; created_at: Timestamp } | null
  status: 'online' | 'offline' | 'unknown'
  /** A JPEG of now. Contains a query; extra parameters are ignored. */
  live_snapshot: string
  /** h264, h265: mjpeg, mp4, mpegts, hls in this order; mjpeg: mjpeg. */
  streams: StreamEntry[]
  /** `CRA` when recording is enabled. */
  applications: { code: string }[]
  /** It is recorded; of a shared camera, and this guest may view that. */
  has_recording: boolean
  /** False for mjpeg alone. */
  low_latency_enabled: boolean
  /** It sends sound. */
  audio_enabled: boolean
  owner: { email: string; first_name: string; last_name: string }
  has_notifications: boolean
}

export type StreamEntry = {
  format: 'mjpeg' | 'mp4' | 'mpegts' | 'hls'
  url: string
  /** Present on `mjpeg` when the request set it. */
  refresh_rate?: number
}

export type Download = { url: string }

export type DownloadQuery = {
  /** Inclusive. */
  start: Time
  /** Exclusive; at most 3 hours later. */
  end: Time
  /** What the file is to be called. */
  filename?: string | undefined
  /** Whether gaps are left out, or last with the picture standing still. */
  gaps?: 'skip' | 'keep' | undefined
}

export type NewRecording = {
  /** ISO 8601 duration of weeks or of days, hours, minutes and seconds, up to 100 years; for instance P7D. Kept and answered as it was written. */
  retention: string
  /** Null: no limit. Missing: as it was while recording is on, else no limit. */
  max_bytes?: number | null | undefined
}

export type PicturesQuery = {
  /** Greatest width of the pictures, in pixels; rounded down to one of a few sizes. */
  max_width?: number | undefined
  /** Greatest height of the pictures, in pixels; rounded down to one of a few sizes. */
  max_height?: number | undefined
}

export type RecordedPictures = {
  /** Append `&at=` with a moment (ISO 8601) to get a JPEG of the key frame at or before it, as small as it was asked for with. Valid for two hours. */
  url: string
}

export type RecordedStream = {
  format: 'hls'
  url: string
  stream_info: string
  stream_controls: {
    base_url: string
    /** POST, answered 204. So are the other two. */
    play: string
    pause: string
    /** With `{"speed": 4}` as body, or `?speed=4`: 1, 2, 4, 8 or 16; 1 where neither says. Above 1 the stream is made of key frames alone, without sound. */
    speed: string
  }
}

export type Recording = {
  id: number
  active_service_id: number
  status: 'READY' | 'CONNECTING' | 'RECORDING' | 'STOPPING' | 'ERROR'
  /** How long footage is kept, an ISO 8601 duration, for instance P7D. */
  retention: string
  deactivated_at: Timestamp | null
  recording_start: Timestamp | null
  recording_end: Timestamp | null
  /** Extension. What is wrong while `status` is ERROR. */
  status_reason: string | null
  /** Extension. Largest size of the footage; the oldest goes first. */
  max_bytes: number | null
}

export type RecordingChange = {
  /** ISO 8601 duration of weeks or of days, hours, minutes and seconds, up to 100 years; for instance P7D. Kept and answered as it was written. */
  retention?: string | undefined
  /** Null: no limit. Missing: as it was while recording is on, else no limit. */
  max_bytes?: number | null | undefined
}

export type StartQuery = {
  /** Seconds, up to a year. When missing, without end. */
  duration?: number | undefined
}

export type StreamInfo = {
  current_time: Timestamp
  /** Seconds since the start of the stream. */
  current_position: number
  speed: number
  state: 'playing' | 'paused'
}

export type StreamQuery = {
  /** Where playback begins. */
  start: Time
  /** When missing: to the end of the footage, and on into live while the camera records. */
  end?: Time | undefined
}

export type Timeline = {
  start: Timestamp
  end: Timestamp
  segments: { start: Timestamp; end: Timestamp }[]
  gaps: {
    start: Timestamp
    end: Timestamp
    /** One of these; later versions add others. camera_unreachable: No connection to the camera could be made, or it was lost. auth_failed: The camera refused the username or password. no_frames: The camera was connected but sent no video. packet_loss: Packets were lost on the way from the camera, and no complete picture arrived for more than a second. stream_changed: The camera changed its stream, or the stream had to be started again. clock_set: The server's or the camera's clock was set to another time. camera_suspended: The server stopped reading this camera for a while because its stream harmed the server. stopped_by_user: Recording was turned off. disk_full: The disk was full. disk_failed: The disk could not be written to. overload: The server could not keep up. server_down: The server was not running. damaged: The footage was recorded, but the file was damaged afterwards. unknown: The reason was not recorded. */
    reason: string
  }[]
}

export type TimelineQuery = {
  /** Inclusive. */
  start: Time
  /** Exclusive; at most 1 day later. */
  end: Time
}

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
        /** Whether the guest is told of events. */
        share_notifications?: boolean | undefined
      }
    | undefined
}

export type NewGuest = {
  email: string
  permissions?:
    | {
        /** Whether the guest can view recordings. */
        can_view_rec?: boolean | undefined
        /** Whether the guest is told of events. */
        share_notifications?: boolean | undefined
      }
    | undefined
}

export type CameraEvent = {
  id: number
  camera: number
  site: null
  title: string | null
  category: string
  /** Who said so: a program with a token, a device with the camera’s hash, the camera itself, or this server. */
  source: 'api' | 'device' | 'camera' | 'system'
  occurred_at: Timestamp
  received_at: Timestamp
  /** What was sent with it, any JSON; null for nothing. */
  data: unknown
}

export type EventQuery = {
  /** Inclusive, on `occurred_at`. */
  start?: Time | undefined
  /** Exclusive, on `occurred_at`. */
  end?: Time | undefined
  /** Extension. Only events of this category. */
  category?: string | undefined
  /** Items per page; 100 when missing, more than 1000 is treated as 1000. */
  limit?: number | undefined
  /** Items to skip; 0 when missing. */
  offset?: number | undefined
}

export type NewEvent = {
  /** A camera of the caller. */
  camera?: number | undefined
  /** The `event_api_hash` of a camera. */
  hash?: string | undefined
  title?: string | null | undefined
  /** `generic` when missing. */
  category?: string | undefined
  /** Now when missing; at most a day in the future. */
  occurred_at?: Time | undefined
  /** Any JSON of at most 4 KiB and 16 levels; only with a token. */
  data?: unknown
}

export type DetectedAudio = {
  /** `aac`, `opus`, `pcmu`, `pcma` or `g726-32` and the like. */
  codec: string
  /** Hz. */
  sample_rate: number
  channels: number
}

export type DetectedVideo = {
  type: 'h264' | 'h265' | 'mjpeg'
  /** With its profile and level (RFC 6381); null when no picture came. */
  codec: string | null
  /** Pixels. */
  width: number | null
  /** Pixels. */
  height: number | null
  /** Pictures per second; null when it could not be measured in the time. */
  frame_rate: number | null
  /** Bits per second; null when it could not be measured in the time. */
  bit_rate: number | null
  /** Seconds from one key frame to the next; null when it could not be measured in the time. */
  key_frame_interval: number | null
}

export type DetectionProblem = {
  /** `address_refused`: cameras may not be there. `not_a_camera`: something else answers at this port. `unsupported`: there is a stream, which the server cannot read. `no_frames`: the camera answers, but no picture came. `not_told`: there is no picture, and what is there instead, in a network that is closed to the world, only owners of the server are told. */
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
  /** What is wrong and what to try, as readable sentences. */
  detail: string
  /** Usual addresses at this host, where the path is what is wrong; they have not been tried. */
  suggestions: SuggestedUrl[]
}

export type DiscoveredDevice = {
  /** Of the device, whatever its address; a URN in most. */
  id: string
  /** Where it answered from. */
  address: string
  /** Of its device service, to be asked for its profiles. */
  url: string
  /** As it names itself. */
  name: string | null
  /** Its model. */
  hardware: string | null
  /** Where it says it is. */
  location: string | null
}

export type NewDetection = {
  /** Where the stream is: rtsp://, rtsps://, or http:// or https:// for MJPEG and for a single picture; may carry user information. */
  url: string
  /** Wins over user information in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
}

export type OnvifDevice = {
  /** What was asked, without user information. */
  url: string
  /** Null when the device was not reached. */
  manufacturer: string | null
  /** Null when the device was not reached. */
  model: string | null
  /** Null when the device was not reached. */
  firmware_version: string | null
  profiles: OnvifProfile[]
  /** Why this is not all; null when it is. */
  problem: {
    /** `address_refused`: cameras may not be there. `not_a_camera`: something else answers at this port. `unsupported`: there is a stream, which the server cannot read. `no_frames`: the camera answers, but no picture came. `not_told`: there is no picture, and what is there instead, in a network that is closed to the world, only owners of the server are told. */
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
    /** What is wrong and what to try, as readable sentences. */
    detail: string
  } | null
}

export type OnvifDeviceSource = {
  /** Of the device service, as discovery tells it: http://192.168.1.20/onvif/device_service. A host alone, with its port or without, is enough. */
  url: string
  /** Wins over user information in `url`. */
  username?: string | null | undefined
  password?: string | null | undefined
}

export type OnvifDiscovery = {
  /** In the order of their addresses. */
  devices: DiscoveredDevice[]
}

export type OnvifProfile = {
  /** Of the profile, within the device. */
  token: string
  name: string
  /** The one with the largest picture, and one small enough for tiles; null for the others. */
  use: 'main' | 'sub' | null
  /** Null when the server does not read what it sends. */
  type: 'h264' | 'h265' | 'mjpeg' | null
  /** As the device names what it sends. */
  encoding: string | null
  width: number | null
  height: number | null
  /** Most pictures per second, as it is set. */
  frame_rate: number | null
  /** Most bits per second, as it is set. */
  bit_rate: number | null
  has_audio: boolean
  /** Where its stream is, without user information: the `url` of a new camera. Null: see `url_problem`. */
  url: string | null
  /** Why there is no `url`. */
  url_problem: string | null
  /** Of a single picture. */
  snapshot_url: string | null
}

export type StreamDetection = {
  /** What was looked at, without user information; what a password in it looks like stands as `***`. */
  url: string
  /** For adding the camera; null when not known. */
  type: 'h264' | 'h265' | 'mjpeg' | null
  /** `http_stream`: pictures, or a container such as MPEG-TS. `http_picture`: a single picture, which is asked for again and again. */
  transport: 'rtsp_tcp' | 'rtsp_udp' | 'http_stream' | 'http_picture' | null
  video: DetectedVideo | null
  audio: DetectedAudio | null
  /** Why its sound is left out; null when it is not. */
  audio_problem: string | null
  /** A small JPEG of what it shows. */
  snapshot: {
    /** A `data:` URL. */
    url: string
    width: number
    height: number
  } | null
  problem: DetectionProblem | null
}

export type SuggestedUrl = {
  /** Whose cameras have their stream there. */
  maker: string
  /** At the host of the request; without user information. */
  url: string
}

export type CameraStatistics = {
  /** When the counters began at 0: when the server started or the camera was added. Null before the first report. */
  since: Timestamp | null
  /** Bits per second over the last minute, sound included; null while no pictures come. */
  bit_rate: number | null
  /** Pictures per second over the last minute; null while no pictures come. */
  frame_rate: number | null
  /** Seconds of real time per second of the timestamps: 2 for a camera that stamps twice as many pictures as it sends, 1 where its clock is right; null while no pictures come. */
  clock_rate: number | null
  /** Percentage of the packets of the last ten minutes that were lost; null when there were none. */
  packet_loss_percent: number | null
  /** Percentage of the pictures of the last ten minutes that were lost; null when there were none. */
  picture_loss_percent: number | null
  /** RTP packets received; 0 for a camera that sends by HTTP. */
  packets: number
  /** RTP packets that never arrived. */
  lost_packets: number
  /** Pictures received whole. */
  pictures: number
  /** Pictures that were lost, and those dropped because a part of them, or of one they need, was lost. */
  lost_pictures: number
  /** Number of times that no picture came for more than a second while the camera was connected. */
  freezes: number
  /** Total length of the freezes. */
  frozen_seconds: number
  /** Connections on which a picture arrived. */
  connections: number
}

export type CameraStorage = {
  id: number
  /** Of footage, what is being recorded included. */
  used_bytes: number
  /** Largest size of its footage; null: no limit. */
  max_bytes: number | null
  /** How fast it grows: that of the last 24 hours. */
  bytes_per_day: number
  recording_start: Timestamp | null
  /** How long its footage is kept at most, in days. */
  retention_days: number | null
  /** How far back its footage will reach at the present rate, in days; null when it is not recorded, or too short to tell. */
  forecast_days: number | null
}

export type Storage = {
  /** Of footage, what is being recorded included. */
  used_bytes: number
  /** Largest size of the footage of all cameras of the user together; null: no limit. */
  max_bytes: number | null
  /** How fast it grows: that of the last 24 hours. */
  bytes_per_day: number
  /** When, at the present rate, footage begins to go before its time is over, for lack of space; null: never. */
  full_at: Timestamp | null
  /** Those of the user that have footage or are recorded. */
  cameras: CameraStorage[]
  /** Of all users together; for owners of the server, else null. */
  server: {
    /** Of footage, what is being recorded included. */
    used_bytes: number
    /** Largest size of all footage; null: no limit. */
    max_bytes: number | null
    /** How fast it grows: that of the last 24 hours. */
    bytes_per_day: number
    /** Size of the disk; null when it does not answer, or is not mounted. */
    disk_bytes: number | null
    disk_free_bytes: number | null
    /** What stays free of it. */
    min_free_bytes: number | null
    /** When, at the present rate, footage begins to go before its time is over, for lack of space; null: never. */
    full_at: Timestamp | null
    /** Present for 24 hours after the clock of the server moved forward by more than ten minutes, because the server was off or the clock was set: footage that is too old only because of this is kept meanwhile. Null otherwise. */
    clock_doubt: {
      /** By how much its clock moved further than the time in which the server ran. */
      ahead_seconds: number
      /** How much longer the server has to run until the clock is believed. */
      remaining_seconds: number
    } | null
    /** Repair of files that were open when the server, or a part of it, ended unexpectedly; null when none is left. */
    repair: {
      /** Files that wait for their repair, the newest first. */
      pending_files: number
      /** Files repaired since the server was started. */
      repaired_files: number
      /** Files that could not be read or written; they are tried again. */
      failed_files: number
    } | null
  } | null
}

export type StorageChange = {
  /** Null: no limit. */
  max_bytes: number | null
}

export type ServerState = {
  version: string
  started_at: Timestamp
  database: 'sqlite' | 'postgresql'
  /** folder: no mail server is configured, invitations wait in the folder outbox for somebody to pass them on. */
  mail: 'smtp' | 'folder'
  cameras: {
    /** Of all users. */
    count: number
    online: number
    offline: number
    /** Not connected yet, or not at present: nobody watches them. */
    unknown: number
    /** camera_unreachable, auth_failed and others, the most frequent first. */
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
  decoder_isolation: {
    /** What the processes that decode are kept from, should a camera take one over. full: at least network, files, processes, system_calls and memory. */
    level: 'full' | 'partial' | 'off'
    /** What they are kept from. */
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
    /** What they are not kept from. */
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
    /** Why something is missing. */
    reason: string | null
    /** What its owner can do about it. */
    advice: string | null
  }
}

export type PageQuery = {
  /** Items per page; 100 when missing, more than 1000 is treated as 1000. */
  limit?: number | undefined
  /** Items to skip; 0 when missing. */
  offset?: number | undefined
}

export type FieldErrors = { [name: string]: string[] | FieldErrors }

export type Problem = {
  /** The HTTP status. */
  status: number
  /** Short identifier, for programs. */
  title: string
  /** For people. */
  detail: string
  /** Reasons per field, `{field: ["reason", …]}`; nested as the request is. */
  errors?: { [name: string]: string[] | FieldErrors }
}
