// Asks for a date and time in the user's time zone, including nights when the clocks change.

import { type FormEvent, useId, useState } from 'react'
import { momentOf, momentsOf, parseLocalTime, writeLocalTime, writeOffset, type Zone } from '../../model/zone.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type JumpDialogProps = {
  readonly zone: Zone
  readonly nowMs: number
  readonly cursorMs: number
  /** Bounds of the recordings; undefined if there are none. */
  readonly oldestMs: number | undefined
  readonly onJump: (ms: number) => void
  readonly onClose: () => void
}

export function JumpDialog({ zone, nowMs, cursorMs, oldestMs, onJump, onClose }: JumpDialogProps) {
  const { jump: texts, cancel } = useTexts()
  const clock = useClock(zone)
  const name = useId()
  const [text, setText] = useState(() => writeLocalTime(zone.localTime(cursorMs)))
  const [isSecond, setSecond] = useState(false)
  const [problem, setProblem] = useState<string>()
  const local = parseLocalTime(text)
  const moments = local ? momentsOf(local, zone) : []
  const isTwice = moments.length > 1
  const ms = local && (moments[isTwice && isSecond ? 1 : 0] ?? momentOf(local, zone))
  const isSkipped = ms !== undefined && moments.length === 0
  const jump = (event: FormEvent) => {
    event.preventDefault()
    if (ms === undefined) setProblem(texts.unread)
    else if (ms > nowMs) setProblem(texts.future)
    else if (oldestMs !== undefined && ms < oldestMs) setProblem(texts.tooOld(clock.dateTime(oldestMs)))
    else {
      onClose()
      onJump(ms)
    }
  }
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <form onSubmit={jump} noValidate>
        <Field
          label={texts.time}
          hint={texts.zone(zone.name, writeOffset(ms ?? nowMs, zone))}
          problem={problem}
          type="datetime-local"
          step={1}
          value={text}
          onChange={(event) => {
            setProblem(undefined)
            setText(event.currentTarget.value)
          }}
        />
        {isTwice && (
          <fieldset className="plain field">
            <legend>{texts.twice}</legend>
            {moments.map((each, index) => (
              <label key={each} className="check">
                <input
                  type="radio"
                  name={name}
                  checked={(index === 1) === isSecond}
                  onChange={() => setSecond(index === 1)}
                />
                {index === 0 ? texts.first(writeOffset(each, zone)) : texts.second(writeOffset(each, zone))}
              </label>
            ))}
          </fieldset>
        )}
        {isSkipped && <p className="hint">{texts.skipped(clock.time(ms))}</p>}
        <div className="form-end">
          <Button type="submit">{texts.go}</Button>
          <Button look="quiet" onClick={onClose}>
            {cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
