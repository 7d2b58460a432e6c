// How full something is. For the eyes: the same is said in words beside it.

import './level.css'

export type LevelProps = {
  readonly whole: number
  /** From the left, in their order; what is left over stays empty. */
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
