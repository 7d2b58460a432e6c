// Adds a camera in two steps: test the connection and show an image, then choose a name and whether to record.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useStorage } from '../../app/storage-query.ts'
import { withoutPassword } from '../../model/reusable-login.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { RecordingFields, type RecordingInput, readMaxBytes } from '../../parts/recording-fields.tsx'
import { useTexts } from '../../texts/texts.tsx'
import './add-camera.css'
import { CameraMaker } from './create-camera.ts'
import { type Looked, UrlForm } from './url-form.tsx'

export function AddCamera() {
  const { addCamera: texts, cameras } = useTexts()
  /** The tested stream; set once the user continues with it. */
  const [looked, setLooked] = useState<Looked>()
  return (
    <Page title={texts.title} above={{ name: cameras.title, href: '/' }}>
      {/* Stays mounted during the second step, so that going back restores it. */}
      <div className="add-camera" hidden={looked !== undefined}>
        <UrlForm onNext={setLooked} />
      </div>
      {looked && <NameForm of={looked} onBack={() => setLooked(undefined)} />}
    </Page>
  )
}

function NameForm({ of, onBack }: { readonly of: Looked; readonly onBack: () => void }) {
  const { addCamera: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const storage = useStorage()
  const [, go] = useLocation()
  const [maker] = useState(() => new CameraMaker(client))
  const [name, setName] = useState(of.suggestedName)
  const nameField = useRef<HTMLInputElement>(null)
  // The focused button of the first step is gone; move focus to this step.
  useEffect(() => nameField.current?.focus(), [])
  const [recording, setRecording] = useState<RecordingInput>({ isOn: true, retention: 'P7D', maxGigabytes: '' })
  const add = useMutation({
    mutationFn: () =>
      maker.make({
        camera: { ...of.source, name },
        recording: recording.isOn ? { retention: recording.retention, max_bytes: readMaxBytes(recording) } : undefined,
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: camerasKey }),
    onSuccess: (id) => go(`/cameras/${id}`, { replace: true }),
  })
  const problems = useFieldProblems(add.error, 'cameras')
  return (
    <div className="add-camera">
      <Form
        title={texts.second}
        action={texts.add}
        sending={add}
        form="cameras"
        fields={['name', 'max_bytes']}
        aside={
          <>
            <Button look="quiet" onClick={onBack} disabled={add.isPending}>
              {texts.back}
            </Button>
            <Link className="action action-quiet" href="/">
              {texts.cancel}
            </Link>
          </>
        }
      >
        <p className="hint">{withoutPassword(of.source.url)}</p>
        <Field
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          problem={problems.name}
          required
          maxLength={200}
          autoComplete="off"
          ref={nameField}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className="field">
          <RecordingFields
            value={recording}
            onChange={setRecording}
            bytesPerDay={of.bytesPerDay}
            storage={storage.data}
            problems={problems}
          />
        </div>
      </Form>
    </div>
  )
}
