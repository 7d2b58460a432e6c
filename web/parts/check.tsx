// A labelled checkbox.

import type { ComponentProps } from 'react'

export type CheckProps = Omit<ComponentProps<'input'>, 'type' | 'className' | 'onChange'> & {
  readonly label: string
  readonly onChange: (isChecked: boolean) => void
}

export function Check({ label, onChange, ...input }: CheckProps) {
  return (
    <label className="check">
      <input {...input} type="checkbox" onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  )
}
