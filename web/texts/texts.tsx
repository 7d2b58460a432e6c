// Provides the texts of the dashboard in the browser's language, or in the one the user chose.

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { english, type Texts } from './english.ts'
import { german } from './german.ts'

export const languages = { en: english, de: german } as const satisfies Record<string, Texts>
export type Language = keyof typeof languages

const key = 'language'

type Chosen = { readonly texts: Texts; readonly language: Language; readonly choose: (language: Language) => void }

const Context = createContext<Chosen | undefined>(undefined)

export function TextsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(readLanguage)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const choose = useCallback((chosen: Language) => {
    localStorage.setItem(key, chosen)
    setLanguage(chosen)
  }, [])
  const value = useMemo(() => ({ texts: languages[language], language, choose }), [language, choose])
  return <Context value={value}>{children}</Context>
}

export function useTexts(): Texts {
  return useLanguage().texts
}

export function useLanguage(): Chosen {
  const chosen = useContext(Context)
  if (!chosen) throw new Error('there are no texts outside of TextsProvider')
  return chosen
}

/** The current language. */
export function readLanguage(): Language {
  return findLanguage(localStorage.getItem(key), navigator.languages)
}

/** The chosen language, otherwise the first of the browser's languages that we support, otherwise English. */
export function findLanguage(kept: string | null, wanted: readonly string[]): Language {
  const known = (tag: string) => Object.keys(languages).find((language) => language === tag.toLowerCase().split('-')[0])
  const names = [...(kept === null ? [] : [kept]), ...wanted]
  return (names.map(known).find((language) => language !== undefined) as Language | undefined) ?? 'en'
}
