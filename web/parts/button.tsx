// A button that is disabled while its action runs.

import type { ComponentProps } from 'react'

type Look = 'main' | 'quiet' | 'danger'

export type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & {
  readonly look?: Look
  readonly isBusy?: boolean
}

/** `type` defaults to `button`; use `submit` for forms. */
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
