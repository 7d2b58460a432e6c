// The server's own pages (signing in, password, address, manual), in the language of this one.

import type { Language } from '../texts/texts.tsx'

export function pagePath(path: `/${string}/`, language: Language): string {
  return `${path}?ui_locales=${language}`
}
