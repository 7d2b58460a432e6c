// A question above the view. The browser's own dialog: it keeps the focus, closes with Escape, and gives the focus back.

import { type ReactNode, useEffect, useId, useRef } from 'react'

export type DialogProps = { readonly title: string; readonly onClose: () => void; readonly children: ReactNode }

/** Open as long as it is there. */
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
