// Creates a camera exactly once: after a lost response or a second attempt, it finds the created camera instead of
// adding another.

import { type Client, type NewCamera, type NewRecording, NightjarError } from '../../../sdk/index.ts'

export type CameraInput = {
  readonly camera: NewCamera
  /** Undefined if the camera is not to be recorded. */
  readonly recording: NewRecording | undefined
}

/** State of the attempts so far; one for each time the form is opened. */
export class CameraMaker {
  readonly #client: Client
  /** Name of the camera that is being created. */
  #wanted: string | undefined
  /** Ids of the cameras with this name that existed before the first attempt. */
  #before: ReadonlySet<number> = new Set()
  #madeId: number | undefined
  #making: Promise<number> | undefined

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * Returns the camera's id. Rejects with the server's refusal; it can then be called again, also with other values.
   * While a camera is being created, it returns that one.
   */
  make(input: CameraInput): Promise<number> {
    this.#making ??= this.#make(input).finally(() => {
      this.#making = undefined
    })
    return this.#making
  }

  async #make({ camera, recording }: CameraInput): Promise<number> {
    const wanted = JSON.stringify([camera.name.trim(), camera.url.trim()])
    if (this.#wanted === wanted) this.#madeId ??= await this.#findMade(camera.name)
    else {
      this.#before = new Set(await this.#listIds(camera.name))
      this.#wanted = wanted
      this.#madeId = undefined
    }
    const id = (this.#madeId ??= await this.#create(camera))
    if (recording) await this.#client.cameras.enableRecording(id, recording)
    return id
  }

  async #create(camera: NewCamera): Promise<number> {
    try {
      return (await this.#client.cameras.create(camera)).id
    } catch (error) {
      if (!(error instanceof NightjarError) || error.status !== 0) throw error
      const id = await this.#findMade(camera.name).catch(() => undefined)
      if (id === undefined) throw error
      return id
    }
  }

  async #findMade(name: string): Promise<number | undefined> {
    return (await this.#listIds(name)).find((id) => !this.#before.has(id))
  }

  async #listIds(name: string): Promise<number[]> {
    const ids: number[] = []
    for await (const camera of this.#client.cameras.listAll()) if (camera.name === name.trim()) ids.push(camera.id)
    return ids
  }
}
