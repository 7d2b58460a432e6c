// Which server has a camera, where several servers share a database. Every change that a server makes because it has the
// camera is made under its lease, and is refused once another server has taken the camera.

import { AppError } from '../base/error.ts'

export type CameraLease = {
  readonly cameraId: number
  /** Of the run of the server that has the camera: random. */
  readonly incarnation: string
  /** How often the camera has changed hands. */
  readonly epoch: number
}

/** The camera has been given to another server, or to another run of this one. What was to be written was not. */
export class LostLease extends AppError {
  readonly cameraId: number

  constructor({ cameraId, epoch }: CameraLease) {
    super('conflict', `camera ${cameraId} belongs to another server since lease ${epoch} was given up`)
    this.cameraId = cameraId
  }
}
