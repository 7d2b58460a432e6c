// A button for actions that cannot be undone; asks for confirmation.

import { useState } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { Confirm, type ConfirmProps } from './confirm.tsx'

export type AskingButtonProps = Omit<ButtonProps, 'onClick' | 'children'> &
  Pick<ConfirmProps, 'title' | 'text' | 'onConfirm'> & {
    /** Label of the button and of the confirmation. */
    readonly action: string
  }

export function AskingButton({ title, text, action, onConfirm, look = 'danger', ...button }: AskingButtonProps) {
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
