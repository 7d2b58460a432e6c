// A modal dialog. It uses the native dialog element, which traps focus, closes with Escape and restores focus.

import { type ReactNode, useEffect, useId, useRef } from 'react'

export type DialogProps = { readonly title: string; readonly onClose: () => void; readonly children: ReactNode }

/** Open while mounted. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  )
}
