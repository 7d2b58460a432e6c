// A value that is shown only once, to read, select or copy.

import { useState } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

export function Secret({ label, value }: { readonly label: string; readonly value: string }) {
  const { secret: texts } = useTexts()
  const [isCopied, setCopied] = useState(false)
  const copy = () =>
    navigator.clipboard?.writeText(value).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  return (
    <Notice kind="good">
      <p>
        <strong>{label}</strong> {texts.once}
      </p>
      <code className="secret">{value}</code>
      <Button look="quiet" onClick={copy}>
        {isCopied ? texts.copied : texts.copy}
      </Button>
    </Notice>
  )
}
