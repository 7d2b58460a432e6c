// OAuth applications one has registered, so that a program of one's own can sign people in.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Application, Client } from '../../../sdk/index.ts'
import { AccountGate } from '../../parts/account-gate.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { readFieldProblems } from '../../parts/field-problems.ts'
import { Secret } from '../../parts/secret.tsx'
import { useTexts } from '../../texts/texts.tsx'

const key = ['account', 'applications'] as const

export function Applications() {
  return <AccountGate>{(client) => <ApplicationList client={client} />}</AccountGate>
}

function ApplicationList({ client }: { readonly client: Client }) {
  const { applications: texts } = useTexts()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [redirectUris, setRedirectUris] = useState('')
  const [isConfidential, setConfidential] = useState(true)
  const list = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => client.applications.list({ limit: 1000 }, { signal }),
  })
  const onSettled = () => queries.invalidateQueries({ queryKey: key })
  const create = useMutation({
    mutationFn: () => {
      const redirect_uris = redirectUris.split(/\s+/).filter((uri) => uri !== '')
      return client.applications.create({ name, redirect_uris, confidential: isConfidential })
    },
    onSuccess: () => {
      setName('')
      setRedirectUris('')
    },
    onSettled,
  })
  const problems = readFieldProblems(create.error)
  return (
    <>
      <form
        className="panel form"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <h2>{texts.newTitle}</h2>
        <Field
          label={texts.name}
          value={name}
          required
          maxLength={100}
          problem={problems.name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Field
          label={texts.redirectUris}
          hint={texts.redirectHint}
          value={redirectUris}
          problem={problems.redirect_uris}
          inputMode="url"
          spellCheck={false}
          placeholder="https://app.example/callback"
          onChange={(event) => setRedirectUris(event.currentTarget.value)}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={isConfidential}
            onChange={(event) => setConfidential(event.currentTarget.checked)}
          />
          {texts.confidential}
        </label>
        {create.error && Object.keys(problems).length === 0 && <Failure error={create.error} />}
        {create.data && (
          <>
            <p>
              {texts.clientId} <code>{create.data.client_id}</code>
            </p>
            {create.data.client_secret !== null && <Secret label={texts.secret} value={create.data.client_secret} />}
          </>
        )}
        <div className="form-end">
          <Button type="submit" isBusy={create.isPending}>
            {texts.create}
          </Button>
        </div>
      </form>
      <div className="panel">
        <h2>{texts.title}</h2>
        {list.error && !list.data && <Failure error={list.error} onAgain={() => list.refetch()} />}
        {list.data?.results.length === 0 && <p className="hint">{texts.none}</p>}
        <ul className="rows">
          {list.data?.results.map((application) => (
            <ApplicationRow key={application.id} application={application} client={client} onSettled={onSettled} />
          ))}
        </ul>
      </div>
    </>
  )
}

type RowProps = { readonly application: Application; readonly client: Client; readonly onSettled: () => void }

function ApplicationRow({ application, client, onSettled }: RowProps) {
  const { applications: texts } = useTexts()
  const [asked, setAsked] = useState<'remove' | 'rotate'>()
  const remove = useMutation({ mutationFn: () => client.applications.delete(application.id), onSettled })
  const rotate = useMutation({ mutationFn: () => client.applications.rotateSecret(application.id), onSettled })
  return (
    <li className="row">
      <div>
        <strong>{application.name}</strong>
        <p className="hint">
          {texts.clientId} <code>{application.client_id}</code>
        </p>
        {application.redirect_uris.map((uri) => (
          <p className="hint" key={uri}>
            {uri}
          </p>
        ))}
        {(remove.error ?? rotate.error) && <Failure error={remove.error ?? rotate.error} />}
        {rotate.data && rotate.data.client_secret !== null && (
          <Secret label={texts.secret} value={rotate.data.client_secret} />
        )}
      </div>
      {application.confidential && (
        <Button look="quiet" isBusy={rotate.isPending} onClick={() => setAsked('rotate')}>
          {texts.rotate}
        </Button>
      )}
      <Button look="danger" isBusy={remove.isPending} onClick={() => setAsked('remove')}>
        {texts.remove}
      </Button>
      {asked === 'remove' && (
        <Confirm
          title={texts.removeTitle(application.name)}
          text={texts.removeText}
          action={texts.remove}
          onClose={() => setAsked(undefined)}
          onConfirm={() => remove.mutate()}
        />
      )}
      {asked === 'rotate' && (
        <Confirm
          title={texts.rotateTitle(application.name)}
          text={texts.rotateText}
          action={texts.rotate}
          onClose={() => setAsked(undefined)}
          onConfirm={() => rotate.mutate()}
        />
      )}
    </li>
  )
}
