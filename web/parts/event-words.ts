// Names of events.

import type { CameraEvent } from '../../sdk/index.ts'
import type { Texts } from '../texts/texts.tsx'

export function nameEvent({ source, category, title }: CameraEvent, texts: Texts['events']): string {
  return texts.own[source === 'system' ? category : ''] ?? title ?? nameKind(category, texts)
}

/** Name of a category of events. */
export function nameKind(category: string, texts: Texts['events']): string {
  return texts.own[category] ?? category.replaceAll('_', ' ')
}
