// The theme: light, dark or the system's. The choice is stored in the browser.

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'theme'

export function readTheme(storage: Pick<Storage, 'getItem'>): Theme {
  const kept = storage.getItem(key)
  return themes.find((theme) => theme === kept) ?? 'system'
}

export function keepTheme(storage: Pick<Storage, 'setItem'>, theme: Theme): void {
  storage.setItem(key, theme)
  applyTheme(theme)
}

export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
}
