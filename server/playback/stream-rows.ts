// The rows of recorded streams, whatever database keeps them (server/store/footage/streams.ts): so that a stream survives a restart.

/** The token or log-in that a stream was asked for with; the stream ends with it. */
export type StreamCredential = { readonly kind: 'personal' | 'grant'; readonly id: number }

export type StreamRow = {
  /** SHA-256 of the id, which stays with whoever asked: a thief of the rows cannot watch. */
  readonly hash: Uint8Array
  readonly cameraId: number
  readonly userId: number
  readonly credential: StreamCredential
  /** The range asked for, Unix milliseconds. */
  readonly startMs: number
  /** Undefined: to the end of the footage, and on while the camera records. */
  readonly endMs: number | undefined
  readonly createdAtMs: number
  readonly state: 'playing' | 'paused'
  readonly speed: number
  /** What its playlist has said, see stream-listing.ts; undefined before it said anything. */
  readonly listing: string | undefined
  /** Wall clock of the footage that was fetched last; undefined before the first fetch. */
  readonly currentMs: number | undefined
}

export type StreamRows = {
  insert(stream: StreamRow): Promise<void>
  find(hash: Uint8Array): Promise<StreamRow | undefined>
  update(hash: Uint8Array, values: Partial<Pick<StreamRow, 'state' | 'speed' | 'listing' | 'currentMs'>>): Promise<void>
  /** Of this user only the newest `count` stay, `newest` among them. The hashes of those that went. */
  removeOldest(userId: number, count: number, newest: Uint8Array): Promise<Uint8Array[]>
  /** Those created before `createdBeforeMs`, and those of cameras or users that are gone. */
  removeExpired(createdBeforeMs: number): Promise<void>
}
