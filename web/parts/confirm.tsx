// Before something is gone for good: what will be gone, and the way back.

import { useTexts } from '../texts/texts.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

export type ConfirmProps = {
  readonly title: string
  readonly text: string
  /** What the button that does it says. */
  readonly action: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const { cancel } = useTexts()
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div className="form-end">
        <Button
          look="danger"
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {action}
        </Button>
        <Button look="quiet" onClick={onClose}>
          {cancel}
        </Button>
      </div>
    </Dialog>
  )
}
