// One who records all the cameras: the service, or its peer. Started and stopped once per round.

export type Contestant = {
  readonly title: string
  /** Starts recording; resolves when it has asked for it, not when it records. */
  start(): Promise<void>
  /** Its processes; their descendants belong to it too. */
  listPids(): readonly number[]
  /** Finishes the files. */
  stop(): Promise<void>
  /** Numbers of the pictures of a camera in the files written since `sinceMs`, Unix milliseconds. */
  readFrameNumbers(camera: number, sinceMs: number): Promise<number[]>
}
