// The head of a view: its title (also the window's), and what can be done in it.

import { type ReactNode, useEffect } from 'react'

export type PageProps = { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode }

export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Nightjar`
  }, [title])
  return (
    <div className="view">
      <div className="view-head">
        <h1>{title}</h1>
        {actions && <div className="view-actions">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
