// Something that happened, in the place where it happened. Faults are told at once to those who hear the page.

import type { ReactNode } from 'react'

export function Notice({ kind, children }: { readonly kind: 'bad' | 'good' | 'hint'; readonly children: ReactNode }) {
  return (
    <div className={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}
