// Fields for recording: on or off, retention time, size limit, and the disk space this needs.

import type { Storage } from '../../sdk/index.ts'
import { readGigabytes } from '../model/byte-size.ts'
import { type CostQuestion, findCost } from '../model/recording-cost.ts'
import { readDays, usualRetentions } from '../model/retention.ts'
import { useTexts } from '../texts/texts.tsx'
import { Check } from './check.tsx'
import { Choice } from './choice.tsx'
import { Field } from './field.tsx'
import type { FieldProblems } from './field-problems.tsx'
import { useSizes } from './sizes.ts'

export type RecordingInput = {
  readonly isOn: boolean
  /** ISO 8601 duration. */
  readonly retention: string
  /** As typed; empty for no limit. */
  readonly maxGigabytes: string
}

/** Typical for a full-size stream: 2 Mbit/s. */
const usualBytesPerDay = 250_000 * 86_400

export type RecordingFieldsProps = {
  readonly value: RecordingInput
  readonly onChange: (value: RecordingInput) => void
  /** Bit rate of the camera, if known. */
  readonly bytesPerDay: number | undefined
  readonly storage: Storage | undefined
  /** Undefined for a camera that is being added. */
  readonly cameraId?: number
  readonly problems?: FieldProblems
}

export function RecordingFields(props: RecordingFieldsProps) {
  const { value, onChange, bytesPerDay, storage, cameraId, problems = {} } = props
  const { recordingFields: texts } = useTexts()
  const nameOf = (retention: string) => {
    const days = readDays(retention)
    return days === undefined ? retention : days % 1 === 0 ? texts.days(days) : texts.hours(Math.round(days * 24))
  }
  const isUsual = usualRetentions.some((usual) => usual === value.retention)
  const choices = isUsual ? usualRetentions : [value.retention, ...usualRetentions]
  return (
    <>
      <Check label={texts.record} checked={value.isOn} onChange={(isOn) => onChange({ ...value, isOn })} />
      {value.isOn && (
        <>
          <div className="pair">
            <Choice
              label={texts.keep}
              value={value.retention}
              options={choices.map((retention) => ({ value: retention, label: nameOf(retention) }))}
              onChange={(retention) => onChange({ ...value, retention })}
            />
            <Field
              label={texts.limit}
              type="number"
              inputMode="decimal"
              min={0.01}
              step="any"
              placeholder={texts.noLimit}
              value={value.maxGigabytes}
              problem={problems.max_bytes}
              onChange={(event) => onChange({ ...value, maxGigabytes: event.currentTarget.value })}
            />
          </div>
          <CostNote
            days={readDays(value.retention) ?? 0}
            maxBytes={readMaxBytes(value) ?? undefined}
            bytesPerDay={bytesPerDay}
            storage={storage}
            cameraId={cameraId}
          />
        </>
      )}
    </>
  )
}

function CostNote({
  bytesPerDay,
  ...limits
}: Omit<CostQuestion, 'bytesPerDay'> & Pick<RecordingFieldsProps, 'bytesPerDay'>) {
  const { recordingFields: texts } = useTexts()
  const sizes = useSizes()
  const { bytes, days, endedBy } = findCost({ ...limits, bytesPerDay: bytesPerDay ?? usualBytesPerDay })
  return (
    <div className="cost" role="status">
      <p>{texts.takes(sizes(bytes), bytesPerDay === undefined)}</p>
      {endedBy !== undefined && (
        <p className={endedBy === 'room' ? 'error' : 'hint'}>
          {texts.shorter[endedBy](days < 1 ? texts.hours(Math.round(days * 24)) : texts.days(Math.floor(days)))}
        </p>
      )}
    </div>
  )
}

/** Returns null for no limit. */
export function readMaxBytes({ maxGigabytes }: RecordingInput): number | null {
  const bytes = readGigabytes(maxGigabytes)
  // Invalid input is sent for the server to refuse, instead of being read as no limit.
  return bytes === undefined ? 0 : bytes
}
