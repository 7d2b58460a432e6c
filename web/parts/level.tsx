// A bar that shows how full something is. It is decorative: the same is written beside it.

import './level.css'

export type LevelProps = {
  readonly whole: number
  /** Shares from left to right; the rest stays empty. */
  readonly parts: readonly { readonly size: number; readonly look: 'main' | 'other' }[]
}

export function Level({ whole, parts }: LevelProps) {
  return (
    <div className="level" aria-hidden="true">
      {parts.map(({ size, look }) => (
        <span key={look} className={`level-${look}`} style={{ width: `${Math.min(100, (100 * size) / whole)}%` }} />
      ))}
    </div>
  )
}
