// Shows an error within a paragraph. The server's text is marked as English for screen readers.

import type { ErrorMessage } from '../model/error-message.ts'
import { useTexts } from '../texts/texts.tsx'

export function ErrorText({ message: { text, said } }: { readonly message: ErrorMessage }) {
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
