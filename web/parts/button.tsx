// A button. While what it started goes on, it cannot be pressed again.

import type { ComponentProps } from 'react'

type Look = 'main' | 'quiet' | 'danger'

export type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & {
  readonly look?: Look
  readonly isBusy?: boolean
}

/** `type` is `button`, unless it sends a form. */
export function Button({ look = 'main', isBusy = false, type = 'button', disabled, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={`action action-${look}`}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
    />
  )
}
