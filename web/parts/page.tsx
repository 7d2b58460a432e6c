// The head of a view: its title (also the window's), what it is part of, and what can be done in it.

import { type ReactNode, useEffect } from 'react'
import { Link } from 'wouter'
import { Icon } from './icon.tsx'

export type PageProps = {
  readonly title: string
  /** Where it belongs, and the way there. */
  readonly above?: { readonly name: string; readonly href: string } | undefined
  readonly actions?: ReactNode
  /** As wide as the window, however wide that is. */
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
