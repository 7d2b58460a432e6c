// A button for what cannot be taken back: it asks before it does it.

import { useState } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { Confirm, type ConfirmProps } from './confirm.tsx'

export type AskingButtonProps = Omit<ButtonProps, 'onClick' | 'children'> &
  Pick<ConfirmProps, 'title' | 'text' | 'onConfirm'> & {
    /** On the button, and on the one of the question. */
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
