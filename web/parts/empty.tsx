// Where a list would be: why there is nothing, and what to do about it.

import type { ReactNode } from 'react'

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
