// A button with an icon. Its accessible name is also its tooltip, shown on hover and keyboard focus.

import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'
import './icon-button.css'

export type IconButtonProps = Omit<ComponentProps<'button'>, 'aria-label' | 'children' | 'type'> & {
  readonly icon: IconName
  readonly label: string
  /** Keyboard shortcut, shown with the name. */
  readonly shortcut?: string | undefined
  /** Show the name beside the icon: always, or where there is room. */
  readonly labels?: 'always' | 'wide'
}

export function IconButton({ icon, label, shortcut, labels, className = '', ...rest }: IconButtonProps) {
  const hint = shortcut === undefined ? label : `${label} (${shortcut})`
  return (
    <button
      {...rest}
      type="button"
      className={`action action-quiet icon-button ${labels === undefined ? '' : `label-${labels}`} ${className}`}
      aria-label={label}
      data-hint={hint}
    >
      <Icon name={icon} />
      {labels !== undefined && <span>{label}</span>}
    </button>
  )
}
