// A button for actions that cannot be undone; asks for confirmation.

import { useState } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { Confirm, type ConfirmProps } from './confirm.tsx'

export type ConfirmButtonProps = Omit<ButtonProps, 'onClick' | 'children'> &
  Pick<ConfirmProps, 'title' | 'text' | 'onConfirm'> & {
    /** Label of the button and of the confirmation. */
    readonly action: string
  }

export function ConfirmButton({ title, text, action, onConfirm, look = 'danger', ...button }: ConfirmButtonProps) {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button {...button} look={look} onClick={() => setAsked(true)}>
        {action}
      </Button>
      {isAsked && (
        <Confirm title={title} text={text} action={action} onClose={() => setAsked(false)} onConfirm={onConfirm} />
      )}
    </>
  )
}
