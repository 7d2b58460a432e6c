// Turns recording of a camera on and off and sets how much is kept.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Camera, type Client, NightjarError, type Recording } from '../../../sdk/index.ts'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useStorage } from '../../app/storage-query.ts'
import { writeGigabytes } from '../../model/byte-size.ts'
import { Failure } from '../../parts/failure.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { RecordingFields, type RecordingInput, readMaxBytes } from '../../parts/recording-fields.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function RecordingForm({ camera }: { readonly camera: Camera }) {
  const { loading } = useTexts()
  const client = useClient()
  const recording = useQuery({
    queryKey: [...camerasKey, 'own', camera.id, 'policy'],
    queryFn: ({ signal }) => findRecording(client, camera.id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  if (recording.data !== undefined) return <PolicyForm camera={camera} recording={recording.data} />
  return (
    <div className="panel">
      {recording.error ? <Failure error={recording.error} onAgain={() => recording.refetch()} /> : <p>{loading}</p>}
    </div>
  )
}

type PolicyFormProps = { readonly camera: Camera; readonly recording: Recording | null }

function PolicyForm({ camera, recording }: PolicyFormProps) {
  const { cameraSettings: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const storage = useStorage()
  const [known, setKnown] = useState(() => readInput(recording))
  const [input, setInput] = useState(known)
  const save = useMutation({
    mutationFn: () => change(client, camera.id, input),
    onSuccess: () => setKnown(input),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: camerasKey }),
        queries.invalidateQueries({ queryKey: ['storage'] }),
      ]),
  })
  const problems = useFieldProblems(save.error)
  const rate = storage.data?.cameras.find(({ id }) => id === camera.id)?.bytes_per_day
  const isTurnedOff = known.isOn && !input.isOn
  return (
    <Form
      title={texts.recording}
      action={texts.save}
      sending={save}
      fields={['max_bytes']}
      done={texts.saved}
      isDisabled={JSON.stringify(input) === JSON.stringify(known)}
    >
      <RecordingFields
        value={input}
        onChange={(value) => {
          setInput(value)
          if (save.isSuccess) save.reset()
        }}
        bytesPerDay={rate || undefined}
        storage={storage.data}
        cameraId={camera.id}
        problems={problems}
      />
      {isTurnedOff && <p className="hint">{texts.recordingStops}</p>}
    </Form>
  )
}

/** Null while the camera is not recorded. */
function findRecording(client: Client, cameraId: number, signal: AbortSignal): Promise<Recording | null> {
  return client.cameras.getRecording(cameraId, { signal }).catch((error: unknown) => {
    if (error instanceof NightjarError && error.status === 404) return null
    throw error
  })
}

function readInput(recording: Recording | null): RecordingInput {
  if (recording === null) return { isOn: false, retention: 'P7D', maxGigabytes: '' }
  const { retention, max_bytes: maxBytes } = recording
  return { isOn: true, retention, maxGigabytes: writeGigabytes(maxBytes) }
}

/** Idempotent, so that a retry after a lost response does no harm. */
async function change(client: Client, cameraId: number, input: RecordingInput): Promise<void> {
  if (input.isOn) {
    await client.cameras.enableRecording(cameraId, { retention: input.retention, max_bytes: readMaxBytes(input) })
    return
  }
  await client.cameras.disableRecording(cameraId).catch((error: unknown) => {
    if (!(error instanceof NightjarError) || error.status !== 404) throw error
  })
}
