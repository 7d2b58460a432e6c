// A new camera: where it is, what to call it, whether to record it and for how long.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { type Client, NightjarError } from '../../../sdk/index.ts'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useStorage } from '../../app/storage-query.ts'
import { findRoom } from '../../model/recording-cost.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { readFieldProblems } from '../../parts/field-problems.ts'
import { Page } from '../../parts/page.tsx'
import { RecordingFields, type RecordingWish, readMaxBytes } from '../../parts/recording-fields.tsx'
import { useTexts } from '../../texts/texts.tsx'

type Wish = { readonly name: string; readonly url: string; readonly username: string; readonly password: string }

const nothing: Wish = { name: '', url: '', username: '', password: '' }

export function AddCamera() {
  const { addCamera: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const storage = useStorage()
  const [, go] = useLocation()
  const [wish, setWish] = useState(nothing)
  const [recording, setRecording] = useState<RecordingWish>({ isOn: true, retention: 'P7D', maxGigabytes: '' })
  const add = useMutation({
    mutationFn: () => createCamera(client, wish, recording),
    onSettled: () => queries.invalidateQueries({ queryKey: camerasKey }),
    onSuccess: ({ id }) => go(`/cameras/${id}`, { replace: true }),
  })
  const problems = readFieldProblems(add.error)
  const field = (name: keyof Wish) => ({
    name,
    value: wish[name],
    problem: problems[name],
    onChange: (event: FormEvent<HTMLInputElement>) => setWish({ ...wish, [name]: event.currentTarget.value }),
  })
  return (
    <Page title={texts.title}>
      <form
        className="panel form"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate()
        }}
      >
        <Field
          {...field('name')}
          label={texts.name}
          hint={texts.nameHint}
          required
          maxLength={200}
          autoComplete="off"
        />
        <Field
          {...field('url')}
          label={texts.url}
          hint={texts.urlHint}
          required
          inputMode="url"
          placeholder="rtsp://192.168.1.20/stream1"
          autoComplete="off"
          spellCheck={false}
        />
        <div className="pair">
          <Field {...field('username')} label={texts.username} autoComplete="off" spellCheck={false} />
          <Field {...field('password')} label={texts.password} type="password" autoComplete="new-password" />
        </div>
        <div className="field">
          <RecordingFields
            value={recording}
            onChange={setRecording}
            bytesPerDay={undefined}
            roomBytes={storage.data && findRoom(storage.data, undefined)}
          />
        </div>
        {add.error && Object.keys(problems).length === 0 && <Failure error={add.error} />}
        <div className="form-end">
          <Button type="submit" isBusy={add.isPending}>
            {texts.add}
          </Button>
          <Link className="action action-quiet" href="/">
            {texts.cancel}
          </Link>
        </div>
      </form>
    </Page>
  )
}

/** A camera that was made although its answer was lost is found again, so that a second try does not make another. */
async function createCamera(client: Client, wish: Wish, recording: RecordingWish): Promise<{ id: number }> {
  const { name, url, username, password } = wish
  const before = await listIds(client, name)
  const body = { name, url, ...(username !== '' && { username }), ...(password !== '' && { password }) }
  const camera = await client.cameras.create(body).catch(async (error: unknown) => {
    if (!(error instanceof NightjarError) || error.status !== 0) throw error
    const id = (await listIds(client, name)).find((id) => !before.includes(id))
    if (id === undefined) throw error
    return { id }
  })
  if (recording.isOn) {
    const policy = { retention: recording.retention, max_bytes: readMaxBytes(recording) }
    await client.cameras.enableRecording(camera.id, policy)
  }
  return camera
}

async function listIds(client: Client, name: string): Promise<number[]> {
  const ids: number[] = []
  for await (const camera of client.cameras.listAll()) if (camera.name === name.trim()) ids.push(camera.id)
  return ids
}
