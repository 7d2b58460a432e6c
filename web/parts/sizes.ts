// Formats sizes in the user's language.

import { useCallback } from 'react'
import { writeBytes } from '../model/byte-size.ts'
import { useLanguage } from '../texts/texts.tsx'

export function useSizes(): (bytes: number) => string {
  const { language } = useLanguage()
  return useCallback((bytes: number) => writeBytes(bytes, language), [language])
}
