// Names of events.

import type { CameraEvent } from '../../sdk/index.ts'
import type { Texts } from '../texts/english.ts'

export function nameEvent({ source, category, title }: CameraEvent, texts: Texts['events']): string {
  return texts.own[source === 'system' ? category : ''] ?? title ?? nameCategory(category, texts)
}

/** Name of a category of events. */
export function nameCategory(category: string, texts: Texts['events']): string {
  return texts.own[category] ?? category.replaceAll('_', ' ')
}
