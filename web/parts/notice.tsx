// A message in place. Errors are announced to screen readers immediately.

import type { ReactNode } from 'react'

export function Notice({ kind, children }: { readonly kind: 'bad' | 'good' | 'hint'; readonly children: ReactNode }) {
  return (
    <div className={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}
