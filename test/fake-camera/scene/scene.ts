// What a camera sees: a still part painted once and a moving part painted anew for each frame.

import { createDoor } from './door.ts'
import { Painter } from './paint.ts'
import type { Picture } from './picture.ts'
import { createPicture } from './picture.ts'
import { createYard } from './yard.ts'

export type Scene = {
  /** Everything that stays as it is. Called once for each size. */
  paintStill(painter: Painter): void
  /** Everything that moves, over the still part. `seconds` = Unix time: the scene depends on nothing else. */
  paintMoving(painter: Painter, seconds: number): void
}

/** Names of the scenes there are. */
export const sceneNames = ['yard', 'door'] as const
export type SceneName = (typeof sceneNames)[number]

export function createScene(name: SceneName): Scene {
  return name === 'yard' ? createYard() : createDoor()
}

/** One scene in one size. Not the name, clock and time code: caption.ts. */
export class ScenePicture {
  readonly picture: Picture
  readonly painter: Painter
  readonly #scene: Scene
  readonly #still: Uint8Array

  constructor(scene: Scene, width: number, height: number) {
    this.picture = createPicture(width, height)
    this.painter = new Painter(this.picture)
    this.#scene = scene
    scene.paintStill(this.painter)
    this.#still = this.picture.data.slice()
  }

  /** Paints the scene as it is at this Unix time over whatever the picture held. */
  paint(unixMs: number): void {
    this.picture.data.set(this.#still)
    this.#scene.paintMoving(this.painter, unixMs / 1000)
  }
}
