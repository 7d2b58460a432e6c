// The tables as Kysely sees them: column names and types as stored. What callers see is defined in each table's file.
//
// Limited to what SQLite and PostgreSQL share: times are Unix milliseconds, booleans are 0 or 1, bytes are Uint8Array.

import type { Generated, Selectable } from 'kysely'
import type { RecordingStatus } from '../../contract/recording-status.ts'

export type Tables = {
  users: {
    id: Generated<number>
    email: string
    /** In lower case; this is the unique form. */
    email_key: string
    first_name: string
    last_name: string
    phone: string | null
    password_hash: string
    /** Owners manage the server and its users. */
    is_owner: Generated<number>
    /** 0 for guests who only watch. */
    may_add_cameras: Generated<number>
    /** 1 for emails about cameras that are offline or not recorded. */
    gets_outage_mails: Generated<number>
    disabled_at_ms: number | null
    /** Incremented by every change of what signs in to the account. */
    credentials_version: Generated<number>
    /** 1 while there is an authenticator app or a passkey. */
    has_second_factor: Generated<number>
    created_at_ms: number
  }
  cameras: {
    id: Generated<number>
    owner_id: number
    name: string
    type: 'h264' | 'h265' | 'mjpeg'
    /** Without user information. */
    url: string
    /** Sealed user name and password, bound to `id`; see sealed-box.ts. */
    credentials: Uint8Array | null
    /** See event-hash.ts. */
    event_hash_sealed: string
    /** SHA-256 of the hash, for lookups. */
    event_hash_digest: Uint8Array | null
    has_audio: number
    keeps_damaged: Generated<number>
    status: 'online' | 'offline' | 'unknown'
    status_reason: string | null
    /** More precise than the reason, which recordings also store. */
    status_code: string | null
    status_detail: string | null
    snapshot_at_ms: number | null
    created_at_ms: number
  }
  recordings: {
    active_service_id: Generated<number>
    camera_id: number
    retention: string
    max_bytes: number | null
    local_retention: string | null
    status: RecordingStatus
    status_detail: string | null
    enabled_at_ms: number
    deactivated_at_ms: number | null
    /** When recording stops or has stopped; 0 if it was stopped by hand, null for never. */
    records_until_ms: number | null
  }
  tokens: {
    id: Generated<number>
    user_id: number
    name: string
    /** SHA-256 of the token. */
    hash: Uint8Array
    prefix: string
    last_four: string
    /** Separated by spaces. */
    scope: string
    /** 0 for an imported value that looks like one of our tokens but has a wrong checksum. */
    is_checksum_valid: number
    created_at_ms: number
    last_used_at_ms: number | null
    revoked_at_ms: number | null
    /** The token that created this one; null if a person created it. */
    parent_id: number | null
    /** The grant that created this token, or the first token in its chain. */
    grant_id: number | null
    /** Null for never. */
    expires_at_ms: number | null
  }
  /** No foreign key to cameras: rows outlive a removed camera until its files are deleted. */
  segments: {
    id: Generated<number>
    camera_id: number
    is_closed: number
    start_ms: number
    end_ms: number
    run_id: string
    run_start90k: number
    place_id: Generated<number>
    /** Relative to the folder of its place. */
    path: string
    bytes: number
    init_bytes: number
    codecs: string
    width: number
    height: number
    init_hash: string
    gap_reason: string | null
    /** CRC-32 of the checksums of its fragments; null while the file is open. */
    checksum: number | null
  }
  /** Separate from `segments`, so that timelines read only small rows. */
  segment_fragments: {
    segment_id: number
    fragments: Uint8Array
  }
  /** Rows exist only for closed segments with holes. */
  segment_holes: {
    segment_id: number
    camera_id: number
    /** Start of the segment. */
    start_ms: number
    /** In the form that `writeHoles` writes. */
    holes: string
  }
  /**
   * See model/clock-epoch.ts; no rows for cameras whose clock was never set back. No foreign key, as for `segments`.
   */
  clock_epochs: {
    camera_id: number
    /** Id of the first segment. */
    from_id: number
    epoch: number
  }
  /** Sums over the closed segments of a camera, updated with them. No foreign key, as for `segments`. */
  footage: {
    camera_id: number
    place_id: number
    bytes: number
    segments: number
  }
  /** Where files of the archive are; see model/place.ts. */
  places: {
    id: Generated<number>
    folder: string
    mark: string
    weight: number
    is_draining: Generated<number>
    /** The server whose folder it is; null for buckets, and where there is one server. */
    node: string | null
  }
  /** Limits of users over the footage of all their cameras. */
  user_limits: {
    user_id: number
    max_bytes: number
  }
  /** Files that are no longer in the index and remain to be deleted. */
  /** Files that are being copied to another place, and have no row yet. */
  copies: {
    place_id: number
    path: string
    /** Who copies, and deletes what an earlier run did not finish. */
    owner: 'server' | 'command'
    /** The server on whose machine that is; null where there is one server. */
    node: string | null
  }
  pending_deletions: {
    id: number
    place_id: Generated<number>
    path: string
  }
  streams: {
    /** SHA-256 of the id in the stream's URLs. */
    hash: Uint8Array
    camera_id: number
    user_id: number
    /** The credential that requested it: a row of `tokens` or `oauth_grants`. */
    credential_kind: 'personal' | 'grant'
    credential_id: number
    start_ms: number
    end_ms: number | null
    created_at_ms: number
    state: 'playing' | 'paused'
    speed: number
    /** What its playlist has listed so far; only the playback reads it. */
    listing: string | null
    current_ms: number | null
    /** Counts the changes that are made only if nobody else has made one. */
    version: number
  }
  /** One row. */
  schema_support: {
    /** A program whose last migration is this one, or a later one, may use the database. */
    oldest_migration: string
  }
  failed_attempts: {
    /** SHA-256 of what the failures are counted for. */
    digest: Uint8Array
    count: number
    first_ms: number
    latest_ms: number
    /** When they are forgotten. */
    until_ms: number
  }
  used_once: {
    /** SHA-256 of the value. */
    digest: Uint8Array
    user_id: number | null
    /** When the value stops working by itself. */
    until_ms: number
  }
  waiting_mails: {
    id: Generated<number>
    /** An email; see mail/kept-mails.ts. */
    sealed: Uint8Array
    since_ms: number
    /** The incarnation of the server that sends it; null with SQLite, and until one does. */
    taken_by: string | null
  }
  kept_values: {
    /** SHA-256 of the name. */
    digest: Uint8Array
    /** Null if the name was only claimed. */
    sealed: Uint8Array | null
    until_ms: number
  }
  /** Servers of this database. */
  nodes: {
    name: string
    /** Random; differs in each run. */
    incarnation: string
    /** The machine and the data folder, which one process at a time uses. */
    holder: string
    /** Where other servers reach it, as `writePeerAddress` writes it; null if they cannot. */
    address: string | null
    has_cameras: number
    processors: Generated<number>
    version: string
    started_ms: number
    /** When it counts as gone unless it reports again, by the clock of the database. */
    expires_ms: number
  }
  /** Which server has which camera. No rows with SQLite, and for cameras that no server has ever had. */
  camera_leases: {
    camera_id: number
    node: string
    /** Of `nodes`; empty once the camera was given back. */
    incarnation: string
    /** Increases whenever the camera changes hands. */
    epoch: number
    /** By the clock of the database. */
    taken_ms: number
  }
  /** What people have said of servers, by name. */
  node_settings: {
    name: string
    /** 1 for one that is to give its cameras to others. */
    is_draining: Generated<number>
    /** Separated by spaces. */
    labels: string
  }
  /** Cameras that ask for a server, or for one that has a label. */
  camera_placements: {
    camera_id: number
    node: string | null
    label: string | null
  }
  /** OAuth clients that users of this server sign in to. */
  applications: {
    id: Generated<number>
    client_id: string
    owner_id: number
    name: string
    /** SHA-256 of the client secret; null for a public client, which has none. */
    secret_hash: Uint8Array | null
    requires_secret: number
    allows_password: number
    /** One per line. */
    redirect_uris: string
    /** The scopes it may request, separated by spaces. */
    scope: string
    created_at_ms: number
    /** 1 for the server's own application, which nobody registered. */
    is_built_in: Generated<number>
  }
  /** One row per sign-in of a user through an application. It persists through all refreshes. */
  oauth_grants: {
    id: Generated<number>
    user_id: number
    application_id: number
    scope: string
    /** Incremented by each refresh; only tokens of this generation are valid. */
    generation: number
    created_at_ms: number
    /** When it ends unless it is refreshed. */
    expires_at_ms: number
    /** When it ends regardless of refreshes; null for never. */
    absolute_expires_at_ms: number | null
    revoked_at_ms: number | null
    revoke_reason: string | null
    last_ip: string
    last_used_at_ms: number
    /** The user agent that created it, so that the user recognizes it. */
    label: string
    /** The session that it ends with; null for other people's applications. */
    session_id: string | null
  }
  oauth_tokens: {
    /** SHA-256 of the token. */
    hash: Uint8Array
    kind: 'access' | 'refresh'
    grant_id: number
    generation: number
    scope: string
    expires_at_ms: number
    /** When a refresh token was exchanged for the next one; distinguishes a replay from a guess. */
    used_at_ms: number | null
  }
  oauth_codes: {
    /** SHA-256 of the code. */
    hash: Uint8Array
    application_id: number
    user_id: number
    redirect_uri: string
    scope: string
    /** RFC 7636, method S256; null if the client sent none. */
    code_challenge: string | null
    expires_at_ms: number
    used_at_ms: number | null
    /** The grant that was created with the code; it ends if the code is sent again. */
    grant_id: number | null
    /** The session that the grant will end with. */
    session_id: string | null
  }
  /** Responses to refresh requests with an Idempotency-Key, sealed under the token that was sent. */
  oauth_replies: {
    token_hash: Uint8Array
    sealed: Uint8Array
    expires_at_ms: number
  }
  events: {
    id: Generated<number>
    camera_id: number
    /** The camera's owner, stored here so that one index finds an owner's events. */
    owner_id: number
    title: string | null
    category: string
    source: 'api' | 'device' | 'camera' | 'system'
    occurred_at_ms: number
    received_at_ms: number
    /** JSON. */
    data: string | null
  }
  /** How fast the device of a camera reports events; only in PostgreSQL. */
  event_rates: {
    camera_id: number
    /** By the clock of the database. */
    full_ms: number
  }
  /** Number of events of a camera. */
  event_totals: {
    camera_id: number
    owner_id: number
    count: number
  }
  /** Number of events of a camera on a UTC day. */
  event_days: {
    camera_id: number
    /** Days since 1970-01-01. */
    day: number
    owner_id: number
    count: number
  }
  /** `CameraFigures` as JSON. */
  camera_figures: {
    camera_id: number
    figures: string
  }
  /** Since when and why a camera is not recorded; without a reason, it is recorded again. */
  gap_marks: {
    camera_id: number
    epoch: number
    at_ms: number
    reason: string | null
  }
  /** Outages for which an event was written and that have not ended. */
  outages: {
    camera_id: number
    since_ms: number
  }
  audit: {
    id: Generated<number>
    at_ms: number
    event: string
    user_id: number | null
    subject: string | null
    ip: string | null
    user_agent: string | null
    /** A JSON object. */
    detail: string
  }
  sessions: {
    id: string
    /** SHA-256 of the cookie value. */
    hash: Uint8Array
    user_id: number
    created_at_ms: number
    seen_at_ms: number
    password_at_ms: number
    second_factor_at_ms: number | null
    /** 'app', 'passkey' or 'recovery_code': the factor that was proved last. */
    second_factor: string | null
    /** 1 if it was created without a required second factor; it allows nothing until there is one. */
    needs_second_factor: Generated<number>
    ip: string
    user_agent: string | null
  }
  /** Identities at providers that may sign in to an account. */
  identities: {
    id: Generated<number>
    user_id: number
    issuer: string
    /** The `sub` claim. */
    subject: string
    email: string | null
    created_at_ms: number
    used_at_ms: number | null
  }
  /** One-time links. A row is deleted when its link is used. */
  links: {
    /** SHA-256 of the token in the link. */
    hash: Uint8Array
    kind: 'setup' | 'invitation' | 'reset' | 'email'
    user_id: number | null
    email: string | null
    email_key: string | null
    inviter_id: number | null
    camera_id: number | null
    created_at_ms: number
    expires_at_ms: number
  }
  /** Mails of the last day, for limits. */
  mails: {
    id: Generated<number>
    purpose: string
    sender_id: number | null
    email_key: string
    at_ms: number
  }
  /** Users who may watch somebody else's camera. */
  guests: {
    id: Generated<number>
    camera_id: number
    /** As entered. Unique per camera by its key. */
    email: string
    email_key: string
    /** The guest's account; null while there is no account with the address. */
    user_id: number | null
    can_view_rec: number
    share_notifications: number
    created_at_ms: number
    /** When the guest first watched the camera. */
    opened_at_ms: number | null
  }
  /** Secrets of authenticator apps, at most one per account. */
  totp_secrets: {
    user_id: number
    /** Sealed with `user_id` as context; see sealed-box.ts. */
    sealed: Uint8Array
    /** The step of the last code that was used. Codes of it and earlier steps are no longer valid. */
    last_step: number
    created_at_ms: number
  }
  passkeys: {
    /** The credential id, base64url. */
    id: string
    user_id: number
    name: string
    /** In COSE format. */
    public_key: Uint8Array
    counter: number
    /** Separated by spaces. */
    transports: string
    created_at_ms: number
    last_used_at_ms: number | null
  }
  /** A row is deleted when its code is used. */
  recovery_codes: {
    /** SHA-256 of the account's id and the code. */
    hash: Uint8Array
    user_id: number
  }
  /** See settings.ts. */
  settings: {
    name: string
    value: string
  }
  /** One row; see model/trusted-time.ts. */
  trusted_time: {
    id: number
    time_ms: number
    doubted_ms: number
    least_ms: number
  }
  secret_check: {
    id: number
    sealed: Uint8Array
  }
}

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>
