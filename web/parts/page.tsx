// Header of a view: its title (also the window title), its parent view and its actions.

import { type ReactNode, useEffect } from 'react'
import { Link } from 'wouter'
import { Icon } from './icon.tsx'

export type PageProps = {
  readonly title: string
  /** The parent view and its path. */
  readonly above?: { readonly name: string; readonly href: string } | undefined
  readonly actions?: ReactNode
  /** Use the full width of the window. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

export function Page({ title, above, actions, isWide = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Nightjar`
  }, [title])
  return (
    <div className={isWide ? 'view view-wide' : 'view'}>
      <div className="view-head">
        <div>
          {above && (
            <Link className="back" href={above.href}>
              <Icon name="before" />
              <bdi>{above.name}</bdi>
            </Link>
          )}
          <h1>
            <bdi>{title}</bdi>
          </h1>
        </div>
        {actions && <div className="view-actions">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
