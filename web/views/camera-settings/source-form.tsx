// Name and URL of a camera. The stored password is never shown. It is kept unless another is typed or the URL names
// another device.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Camera, CameraChange, CameraSource } from '../../../sdk/index.ts'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { useTexts } from '../../texts/texts.tsx'

const fields = ['name', 'url', 'username', 'password'] as const
type CameraInput = { readonly [Name in (typeof fields)[number]]: string }

export function SourceForm({ camera, source }: { readonly camera: Camera; readonly source: CameraSource }) {
  const { cameraSettings: texts, addCamera } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const [known, setKnown] = useState<CameraInput>({
    name: camera.name,
    url: source.url,
    username: source.username ?? '',
    password: '',
  })
  const [input, setInput] = useState(known)
  const save = useMutation({
    mutationFn: () => client.cameras.update(camera.id, findChange(known, input)),
    onSuccess: async ({ name }) => {
      const { url, username } = await client.cameras.getSource(camera.id)
      const fresh = { name, url, username: username ?? '', password: '' }
      setKnown(fresh)
      setInput(fresh)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: camerasKey }),
  })
  const problems = useFieldProblems(save.error)
  const field = (name: keyof CameraInput) => ({
    name,
    value: input[name],
    problem: problems[name],
    onChange: (event: FormEvent<HTMLInputElement>) => {
      setInput({ ...input, [name]: event.currentTarget.value })
      if (save.isSuccess) save.reset()
    },
  })
  const isChanged = fields.some((name) => input[name] !== known[name])
  const isElsewhere = findHost(input.url) !== findHost(known.url)
  return (
    <Form
      title={texts.source}
      action={texts.save}
      sending={save}
      fields={fields}
      done={texts.saved}
      isDisabled={!isChanged}
    >
      <Field {...field('name')} label={addCamera.name} required maxLength={200} autoComplete="off" />
      <Field
        {...field('url')}
        label={addCamera.url}
        hint={input.url.includes('***') ? texts.hiddenHint : undefined}
        required
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
      />
      <div className="pair">
        <Field {...field('username')} label={addCamera.username} autoComplete="off" spellCheck={false} />
        <Field
          {...field('password')}
          label={addCamera.password}
          hint={!source.has_password ? undefined : isElsewhere ? texts.passwordElsewhere : texts.passwordStays}
          type="password"
          autoComplete="new-password"
        />
      </div>
    </Form>
  )
}

/** Sends only what changed, because the stored password is not known here. */
function findChange(known: CameraInput, input: CameraInput): CameraChange {
  const isElsewhere = findHost(input.url) !== findHost(known.url)
  const isNobody = input.username === '' && known.username !== ''
  return {
    ...(input.name !== known.name && { name: input.name }),
    ...(input.url !== known.url && { url: input.url }),
    ...((input.username !== known.username || (isElsewhere && input.username !== '')) && {
      username: input.username === '' ? null : input.username,
    }),
    ...(input.password !== '' ? { password: input.password } : isNobody && { password: null }),
  }
}

function findHost(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined
}
