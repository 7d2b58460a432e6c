// Whether to record, for how long, and what that takes on the disk.

import { useId } from 'react'
import { useTexts } from '../../texts/texts.tsx'

export type RecordingWish = { readonly isOn: boolean; readonly days: number }

const choices = [1, 3, 7, 14, 30, 90] as const
/** What a camera of full size usually sends. */
const usualBytesPerSecond = 250_000

export type RecordingFieldsProps = {
  readonly value: RecordingWish
  readonly onChange: (value: RecordingWish) => void
  /** What the camera sends, where it is known. */
  readonly bytesPerSecond?: number | undefined
}

export function RecordingFields({ value, onChange, bytesPerSecond }: RecordingFieldsProps) {
  const { recordingFields: texts } = useTexts()
  const id = useId()
  const gigabytes = ((bytesPerSecond ?? usualBytesPerSecond) * 86_400 * value.days) / 1e9
  return (
    <fieldset className="field plain">
      <legend>{texts.legend}</legend>
      <label className="check">
        <input
          type="checkbox"
          checked={value.isOn}
          onChange={(event) => onChange({ ...value, isOn: event.currentTarget.checked })}
        />
        {texts.record}
      </label>
      {value.isOn && (
        <>
          <label htmlFor={id}>{texts.keep}</label>
          <select
            id={id}
            value={value.days}
            onChange={(event) => onChange({ ...value, days: Number(event.currentTarget.value) })}
            aria-describedby={`${id}-hint`}
          >
            {choices.map((days) => (
              <option key={days} value={days}>
                {texts.days(days)}
              </option>
            ))}
          </select>
          <p className="hint" id={`${id}-hint`}>
            {texts.takes(gigabytes, bytesPerSecond === undefined)}
          </p>
        </>
      )}
    </fieldset>
  )
}
