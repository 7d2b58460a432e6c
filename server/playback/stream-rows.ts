// The rows of recorded streams, independent of the database (server/store/footage/streams.ts). They let streams survive
// a restart.

/** The token or login that created the stream. The stream ends with it. */
export type StreamCredential = { readonly kind: 'personal' | 'grant'; readonly id: number }

export type StreamRow = {
  /** SHA-256 of the id. The id itself is known only to the client, so that stolen rows cannot be used to watch. */
  readonly hash: Uint8Array
  readonly cameraId: number
  readonly userId: number
  readonly credential: StreamCredential
  /** The requested range, Unix milliseconds. */
  readonly startMs: number
  /** Undefined: to the end of the footage, and on while the camera records. */
  readonly endMs: number | undefined
  readonly createdAtMs: number
  readonly state: 'playing' | 'paused'
  readonly speed: number
  /** The entries that the playlist has listed, see stream-listing.ts. Undefined before the first one. */
  readonly listing: string | undefined
  /** Wall clock of the footage that was fetched last; undefined before the first fetch. */
  readonly currentMs: number | undefined
  /** Increases with each change that demands one. */
  readonly version: number
}

export type StreamChange = Partial<Pick<StreamRow, 'state' | 'speed' | 'listing' | 'currentMs'>>

export type StreamRows = {
  insert(stream: StreamRow): Promise<void>
  find(hash: Uint8Array): Promise<StreamRow | undefined>
  /** With a `version`, only if the row still has that one, which then increases. Returns whether it has changed anything. */
  update(hash: Uint8Array, values: StreamChange, version?: number): Promise<boolean>
  /** Keeps only the newest `count` streams of this user, including `newest`. Returns the hashes of the removed ones. */
  removeOldest(userId: number, count: number, newest: Uint8Array): Promise<Uint8Array[]>
  /** Removes streams created before `createdBeforeMs`, and those of deleted cameras and users. */
  removeExpired(createdBeforeMs: number): Promise<void>
}
