// The head of a view: its title (also the window's), and what can be done in it.

import { type ReactNode, useEffect } from 'react'

export type PageProps = {
  readonly title: string
  readonly actions?: ReactNode
  /** As wide as the window, however wide that is. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

export function Page({ title, actions, isWide = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Nightjar`
  }, [title])
  return (
    <div className={isWide ? 'view view-wide' : 'view'}>
      <div className="view-head">
        <h1>{title}</h1>
        {actions && <div className="view-actions">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
