// Making a camera, once: an answer that got lost, or a second try after it, finds the camera that was made instead of making another.

import { type Client, type NewCamera, type NewRecording, NightjarError } from '../../../sdk/index.ts'

export type Wish = {
  readonly camera: NewCamera
  /** Undefined: it is not to be recorded. */
  readonly recording: NewRecording | undefined
}

/** What is known of the tries so far; one for each time the form is opened. */
export class CameraMaker {
  readonly #client: Client
  /** Of the camera that is being made. */
  #wanted: string | undefined
  /** Those of this name that were there before the first try. */
  #before: ReadonlySet<number> = new Set()
  #madeId: number | undefined
  #making: Promise<number> | undefined

  constructor(client: Client) {
    this.#client = client
  }

  /**
   * The camera's id. Rejects with what the server says; then it can be called again, also with another wish. While one is being made,
   * it is that one.
   */
  make(wish: Wish): Promise<number> {
    this.#making ??= this.#make(wish).finally(() => {
      this.#making = undefined
    })
    return this.#making
  }

  async #make({ camera, recording }: Wish): Promise<number> {
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
