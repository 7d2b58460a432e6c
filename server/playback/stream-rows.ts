// The rows of recorded streams, whatever database keeps them (server/store/streams.ts): so that a stream survives a restart.

export type StreamRow = {
  /** 128 random bits, 32 hexadecimal digits: who knows it may watch, as long as the user may. */
  readonly id: string
  readonly cameraId: number
  readonly userId: number
  /** The range asked for, Unix milliseconds. */
  readonly startMs: number
  /** Undefined: to the end of the footage, and on while the camera records. */
  readonly endMs: number | undefined
  readonly createdAtMs: number
  readonly state: 'playing' | 'paused'
  readonly speed: number
  /** While paused: how many entries the playlist keeps showing. */
  readonly heldEntries: number | undefined
  /** Wall clock of the footage that was fetched last; undefined before the first fetch. */
  readonly currentMs: number | undefined
}

export type StreamRows = {
  insert(stream: StreamRow): Promise<void>
  find(id: string): Promise<StreamRow | undefined>
  update(id: string, values: Partial<Pick<StreamRow, 'state' | 'speed' | 'heldEntries' | 'currentMs'>>): Promise<void>
  /** Those created before `createdBeforeMs`, and those of cameras or users that are gone. */
  removeExpired(createdBeforeMs: number): Promise<void>
}
