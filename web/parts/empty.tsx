// Shown in place of an empty list: why it is empty and what to do.

import type { ReactNode } from 'react'

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
