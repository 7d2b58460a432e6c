// A button that shows a picture. What it does is its name, which those who see it read when they point at it or come to it with the
// keyboard.

import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'
import './icon-button.css'

export type IconButtonProps = Omit<ComponentProps<'button'>, 'aria-label' | 'children' | 'type'> & {
  readonly icon: IconName
  readonly label: string
  /** The key that does the same, shown beside the name. */
  readonly shortcut?: string | undefined
  /** The name stands beside the picture: always, or where there is room for it. */
  readonly words?: 'always' | 'wide'
}

export function IconButton({ icon, label, shortcut, words, className = '', ...rest }: IconButtonProps) {
  const hint = shortcut === undefined ? label : `${label} (${shortcut})`
  return (
    <button
      {...rest}
      type="button"
      className={`action action-quiet icon-button ${words === undefined ? '' : `words-${words}`} ${className}`}
      aria-label={label}
      data-hint={hint}
    >
      <Icon name={icon} />
      {words !== undefined && <span>{label}</span>}
    </button>
  )
}
