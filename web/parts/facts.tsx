// Names and values as a definition list.

import type { ReactNode } from 'react'
import './facts.css'

export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
