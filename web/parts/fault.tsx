// Shows an error within a paragraph. The server's text is marked as English for screen readers.

import type { Told } from '../model/told.ts'
import { useTexts } from '../texts/texts.tsx'

export function Fault({ told: { text, said } }: { readonly told: Told }) {
  const { said: before } = useTexts()
  return (
    <>
      {text}
      {said !== undefined && (
        <span className="said">
          {before} <span lang="en">{said}</span>
        </span>
      )}
    </>
  )
}
