// The tables as Kysely sees them: column names and types as stored. What callers see is in the file of each table.
//
// Kept to what SQLite and PostgreSQL share: times are Unix milliseconds, booleans 0 or 1, bytes are Uint8Array.

import type { Generated, Selectable } from 'kysely'
import type { RecordingStatus } from '../../contract/recording-status.ts'

export type Tables = {
  users: {
    id: Generated<number>
    email: string
    /** Lower case; what is unique. */
    email_key: string
    first_name: string
    last_name: string
    phone: string | null
    password_hash: string
    /** Owners manage the server and its users. */
    is_owner: Generated<number>
    disabled_at_ms: number | null
    /** Grows whenever what signs in to the account changes. */
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
    /** SHA-256 of the hash, to look it up by; every row has it. */
    event_hash_digest: Uint8Array | null
    has_audio: number
    keeps_damaged: Generated<number>
    status: 'online' | 'offline' | 'unknown'
    status_reason: string | null
    /** Finer than the reason, of which recordings keep theirs. */
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
    status: RecordingStatus
    status_detail: string | null
    enabled_at_ms: number
    deactivated_at_ms: number | null
    /** When recording stops, or has stopped; 0 for by hand, null for never. */
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
    /** Space separated. */
    scope: string
    /** 0 for a value brought along that looks like ours but fails our checksum. */
    is_checksum_valid: number
    created_at_ms: number
    last_used_at_ms: number | null
    revoked_at_ms: number | null
    /** The token it was made with; null when a person made it. */
    parent_id: number | null
    /** The grant it, or the first of those it was made with, was made with. */
    grant_id: number | null
  }
  /** No foreign key to cameras: the rows must outlive a removed camera until its files are gone. */
  segments: {
    id: Generated<number>
    camera_id: number
    is_closed: number
    start_ms: number
    end_ms: number
    run_id: string
    run_start90k: number
    path: string
    bytes: number
    init_bytes: number
    codecs: string
    width: number
    height: number
    init_hash: string
    gap_reason: string | null
    /** CRC-32 of the checksums of its fragments; null while it is open, and for files from before there were any. */
    checksum: number | null
  }
  /** Apart from `segments` so that a timeline reads small rows only. */
  segment_fragments: {
    segment_id: number
    fragments: Uint8Array
  }
  /** Of closed segments that have any. */
  segment_holes: {
    segment_id: number
    camera_id: number
    /** Of the segment. */
    start_ms: number
    /** As `writeHoles` writes them. */
    holes: string
  }
  /** See model/clock-epoch.ts; none for cameras whose clock was never set back. No foreign key, as `segments`. */
  clock_epochs: {
    camera_id: number
    /** Of the first segment. */
    from_id: number
    epoch: number
  }
  /** Sums over the closed segments of a camera, changed with them. No foreign key, as `segments`. */
  footage: {
    camera_id: number
    bytes: number
    segments: number
  }
  /** Users whose footage is limited, over all their cameras. */
  user_limits: {
    user_id: number
    max_bytes: number
  }
  /** Files whose segments are gone from the index and that remain to be deleted. */
  pending_deletions: {
    id: number
    path: string
  }
  streams: {
    /** SHA-256 of the id in the stream's addresses. */
    hash: Uint8Array
    camera_id: number
    user_id: number
    /** What it was asked for with: a row of `tokens` or of `oauth_grants`. */
    credential_kind: 'personal' | 'grant'
    credential_id: number
    start_ms: number
    end_ms: number | null
    created_at_ms: number
    state: 'playing' | 'paused'
    speed: number
    /** What its playlist has said; read by the playback alone. */
    listing: string | null
    current_ms: number | null
  }
  /** Programs that people sign in to with their account here. */
  applications: {
    id: Generated<number>
    client_id: string
    owner_id: number
    name: string
    /** SHA-256 of the client secret; null for a public application, which has none. */
    secret_hash: Uint8Array | null
    requires_secret: number
    allows_password: number
    /** One per line. */
    redirect_uris: string
    /** What it may ask for at most, space separated. */
    scope: string
    created_at_ms: number
    /** 1 for the server's own, which nobody registered. */
    is_built_in: Generated<number>
  }
  /** One per log-in of a user through an application; lives through all refreshes. */
  oauth_grants: {
    id: Generated<number>
    user_id: number
    application_id: number
    scope: string
    /** Grows with each refresh; only tokens of this generation are good. */
    generation: number
    created_at_ms: number
    /** When it ends unless refreshed before. */
    expires_at_ms: number
    /** When it ends however often it is refreshed; null for never. */
    absolute_expires_at_ms: number | null
    revoked_at_ms: number | null
    revoke_reason: string | null
    last_ip: string
    last_used_at_ms: number
    /** The user agent it was made with, so that the user recognizes it. */
    label: string
    /** The browser's session it ends with; null for applications of others. */
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
    /** When a refresh token was exchanged for the next; kept to tell a replay from a guess. */
    used_at_ms: number | null
  }
  oauth_codes: {
    /** SHA-256 of the code. */
    hash: Uint8Array
    application_id: number
    user_id: number
    redirect_uri: string
    scope: string
    /** RFC 7636, method S256; null when the client sent none. */
    code_challenge: string | null
    expires_at_ms: number
    used_at_ms: number | null
    /** What was granted for it; ends when the code is sent again. */
    grant_id: number | null
    /** The session that what is granted for it will end with. */
    session_id: string | null
  }
  /** Answers to refresh requests with an Idempotency-Key, sealed under the token that was sent. */
  oauth_replies: {
    token_hash: Uint8Array
    sealed: Uint8Array
    expires_at_ms: number
  }
  events: {
    id: Generated<number>
    camera_id: number
    /** Of the camera; here as well so that an owner's events are found in one index. */
    owner_id: number
    title: string | null
    category: string
    source: 'api' | 'device' | 'camera' | 'system'
    occurred_at_ms: number
    received_at_ms: number
    /** JSON. */
    data: string | null
  }
  /** Events of a camera. */
  event_totals: {
    camera_id: number
    owner_id: number
    count: number
  }
  /** Events of a camera that occurred on a UTC day. */
  event_days: {
    camera_id: number
    /** Days since 1970-01-01. */
    day: number
    owner_id: number
    count: number
  }
  /** As `CameraFigures`, JSON. */
  camera_figures: {
    camera_id: number
    figures: string
  }
  /** From a moment on, why nothing of a camera is recorded; without a reason: it is again. */
  gap_marks: {
    camera_id: number
    epoch: number
    at_ms: number
    reason: string | null
  }
  /** Outages of cameras that an event was written of, and that have not ended. */
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
    /** SHA-256 of the cookie's value. */
    hash: Uint8Array
    user_id: number
    created_at_ms: number
    seen_at_ms: number
    password_at_ms: number
    second_factor_at_ms: number | null
    /** 'app', 'passkey' or 'recovery_code': the one that was proved last. */
    second_factor: string | null
    /** 1 when it began without one that is required; leads nowhere until there is one. */
    needs_second_factor: Generated<number>
    ip: string
    user_agent: string | null
  }
  /** People at identity providers who may sign in to an account. */
  identities: {
    id: Generated<number>
    user_id: number
    issuer: string
    /** `sub`. */
    subject: string
    email: string | null
    created_at_ms: number
    used_at_ms: number | null
  }
  /** One-time links; a row goes when its link is used. */
  links: {
    /** SHA-256 of what the link carries. */
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
  /** Mails of the last day, for the limits. */
  mails: {
    id: Generated<number>
    purpose: string
    sender_id: number | null
    email_key: string
    at_ms: number
  }
  /** People who may watch somebody else's camera. */
  guests: {
    id: Generated<number>
    camera_id: number
    /** As entered; unique per camera by its key. */
    email: string
    email_key: string
    /** Whose share it is; null while there is no account for the address. */
    user_id: number | null
    can_view_rec: number
    share_notifications: number
    created_at_ms: number
    /** When the guest first looked at the camera. */
    opened_at_ms: number | null
  }
  /** Of authenticator apps, at most one for each account. */
  totp_secrets: {
    user_id: number
    /** Bound to `user_id`; see sealed-box.ts. */
    sealed: Uint8Array
    /** Of the last code that was used; none of it or before it counts any more. */
    last_step: number
    created_at_ms: number
  }
  passkeys: {
    /** Of the credential, base64url. */
    id: string
    user_id: number
    name: string
    /** COSE. */
    public_key: Uint8Array
    counter: number
    /** Space separated. */
    transports: string
    created_at_ms: number
    last_used_at_ms: number | null
  }
  /** A row goes when its code is used. */
  recovery_codes: {
    /** SHA-256 of account and code. */
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
