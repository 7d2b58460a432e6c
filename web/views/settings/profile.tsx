// The user's name, and which emails the user gets. Password and email are changed on the server's own pages.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../../sdk/index.ts'
import { useClient } from '../../app/clients.tsx'
import { meKey, useMe } from '../../app/me-query.ts'
import { Check } from '../../parts/check.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { pagePath } from '../../parts/page-path.ts'
import { useLanguage, useTexts } from '../../texts/texts.tsx'

export function Profile() {
  const { loading } = useTexts()
  const me = useMe()
  if (me.data) return <ProfileForm user={me.data} />
  return me.error ? <Failure error={me.error} onAgain={() => me.refetch()} /> : <p>{loading}</p>
}

function ProfileForm({ user }: { readonly user: User }) {
  const { profile: texts } = useTexts()
  const { language } = useLanguage()
  const client = useClient()
  const queries = useQueryClient()
  const [first, setFirst] = useState(user.first_name)
  const [last, setLast] = useState(user.last_name)
  const [getsMails, setGetsMails] = useState(user.outage_mails)
  const save = useMutation({
    mutationFn: () => client.me.update({ first_name: first, last_name: last, outage_mails: getsMails }),
    onSuccess: (changed) => queries.setQueryData(meKey, changed),
  })
  const problems = useFieldProblems(save.error)
  return (
    <>
      <Form
        title={texts.title}
        action={texts.save}
        sending={save}
        fields={['first_name', 'last_name']}
        done={texts.saved}
      >
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
        <Check label={texts.outageMails} checked={getsMails} onChange={setGetsMails} />
      </Form>
      <div className="panel">
        <h2>{texts.signIn}</h2>
        <p>{texts.signInText}</p>
        <div className="form-end">
          <a className="action action-quiet" href={pagePath('/account/password/', language)}>
            {texts.password}
          </a>
          <a className="action action-quiet" href={pagePath('/account/email/', language)}>
            {texts.email}
          </a>
          <a className="action action-quiet" href={pagePath('/account/second-factor/', language)}>
            {texts.secondFactor}
          </a>
          <a className="action action-quiet" href={pagePath('/sign-out/', language)}>
            {texts.signOut}
          </a>
        </div>
      </div>
    </>
  )
}
