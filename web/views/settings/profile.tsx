// The name others see; password and address are changed on pages of the server's own.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../../sdk/index.ts'
import { useClient } from '../../app/clients.tsx'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { readFieldProblems } from '../../parts/field-problems.ts'
import { Notice } from '../../parts/notice.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function Profile() {
  const { loading } = useTexts()
  const client = useClient()
  const me = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.me.get({ signal }) })
  if (me.data) return <ProfileForm user={me.data} />
  return me.error ? <Failure error={me.error} onAgain={() => me.refetch()} /> : <p>{loading}</p>
}

function ProfileForm({ user }: { readonly user: User }) {
  const { profile: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const [first, setFirst] = useState(user.first_name)
  const [last, setLast] = useState(user.last_name)
  const save = useMutation({
    mutationFn: () => client.me.update({ first_name: first, last_name: last }),
    onSuccess: (changed) => queries.setQueryData(['me'], changed),
  })
  const problems = readFieldProblems(save.error)
  return (
    <>
      <form
        className="panel form"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <h2>{texts.title}</h2>
        <p>{user.email}</p>
        <div className="pair">
          <Field
            label={texts.firstName}
            value={first}
            problem={problems.first_name}
            autoComplete="given-name"
            onChange={(event) => setFirst(event.currentTarget.value)}
          />
          <Field
            label={texts.lastName}
            value={last}
            problem={problems.last_name}
            autoComplete="family-name"
            onChange={(event) => setLast(event.currentTarget.value)}
          />
        </div>
        {save.error && Object.keys(problems).length === 0 && <Failure error={save.error} />}
        {save.isSuccess && (
          <Notice kind="good">
            <p>{texts.saved}</p>
          </Notice>
        )}
        <div className="form-end">
          <Button type="submit" isBusy={save.isPending}>
            {texts.save}
          </Button>
        </div>
      </form>
      <div className="panel">
        <h2>{texts.signIn}</h2>
        <p>{texts.signInText}</p>
        <div className="form-end">
          <a className="action action-quiet" href="/account/password/">
            {texts.password}
          </a>
          <a className="action action-quiet" href="/account/email/">
            {texts.email}
          </a>
          <a className="action action-quiet" href="/sign-out/">
            {texts.signOut}
          </a>
        </div>
      </div>
    </>
  )
}
