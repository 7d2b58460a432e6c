// Paths of the server's own pages (sign-in, password, email, manual), in the language of the dashboard.

import type { Language } from '../texts/texts.tsx'

export function pagePath(path: `/${string}/`, language: Language): string {
  return `${path}?ui_locales=${language}`
}
