// What is told of a fault, within a paragraph. The server's own sentence is marked as English, for those who hear the page.

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
