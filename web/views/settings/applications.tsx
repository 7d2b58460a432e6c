// OAuth applications that the user has registered.

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Application, Client } from '../../../sdk/index.ts'
import { Check } from '../../parts/check.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { RequirePassword } from '../../parts/require-password.tsx'
import { Secret } from '../../parts/secret.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useAccountList } from './use-account-list.ts'

export function Applications() {
  return <RequirePassword>{(client) => <ApplicationList client={client} />}</RequirePassword>
}

function ApplicationList({ client }: { readonly client: Client }) {
  const { applications: texts } = useTexts()
  const [name, setName] = useState('')
  const [redirectUris, setRedirectUris] = useState('')
  const [isConfidential, setConfidential] = useState(true)
  const list = useAccountList('applications', client.applications.listAll)
  const create = useMutation({
    mutationFn: () => {
      const redirect_uris = redirectUris.split(/\s+/).filter((uri) => uri !== '')
      return client.applications.create({ name, redirect_uris, confidential: isConfidential })
    },
    onSuccess: () => {
      setName('')
      setRedirectUris('')
    },
    onSettled: list.onSettled,
  })
  const problems = useFieldProblems(create.error, 'applications')
  return (
    <>
      <Form
        title={texts.newTitle}
        action={texts.create}
        sending={create}
        form="applications"
        fields={['name', 'redirect_uris']}
      >
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
        <Check label={texts.confidential} checked={isConfidential} onChange={setConfidential} />
        {create.data && (
          <>
            <ClientId of={create.data} />
            {create.data.client_secret !== null && <Secret label={texts.secret} value={create.data.client_secret} />}
          </>
        )}
      </Form>
      <ListPanel title={texts.title} list={list} none={texts.none} nameOf={({ name }) => name}>
        {(application) => (
          <ApplicationRow key={application.id} application={application} client={client} onSettled={list.onSettled} />
        )}
      </ListPanel>
    </>
  )
}

function ClientId({ of }: { readonly of: Application }) {
  const { applications: texts } = useTexts()
  return (
    <p className="hint">
      {texts.clientId} <code>{of.client_id}</code>
    </p>
  )
}

type RowProps = { readonly application: Application; readonly client: Client; readonly onSettled: () => void }

function ApplicationRow({ application, client, onSettled }: RowProps) {
  const { applications: texts } = useTexts()
  const remove = useMutation({ mutationFn: () => client.applications.delete(application.id), onSettled })
  const rotate = useMutation({ mutationFn: () => client.applications.rotateSecret(application.id), onSettled })
  const error = remove.error ?? rotate.error
  return (
    <li className="row">
      <div>
        <strong>
          <bdi>{application.name}</bdi>
        </strong>
        <ClientId of={application} />
        {application.redirect_uris.map((uri) => (
          <p className="hint" key={uri}>
            {uri}
          </p>
        ))}
        {error && <Failure error={error} />}
        {rotate.data && rotate.data.client_secret !== null && (
          <Secret label={texts.secret} value={rotate.data.client_secret} />
        )}
      </div>
      {application.confidential && (
        <ConfirmButton
          look="quiet"
          title={texts.rotateTitle(application.name)}
          text={texts.rotateText}
          action={texts.rotate}
          isBusy={rotate.isPending}
          onConfirm={() => rotate.mutate()}
        />
      )}
      <ConfirmButton
        title={texts.removeTitle(application.name)}
        text={texts.removeText}
        action={texts.remove}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </li>
  )
}
