// A confirmation dialog for deletions: says what will be deleted and offers to cancel.

import { useTexts } from '../texts/texts.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

export type ConfirmProps = {
  readonly title: string
  readonly text: string
  /** Label of the button that confirms. */
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
