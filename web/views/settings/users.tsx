// All accounts of the server, for its owners: list, add, disable.

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Client } from '../../../sdk/index.ts'
import { useMailHint } from '../../app/server-query.ts'
import { Check } from '../../parts/check.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { RequirePassword } from '../../parts/require-password.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useAccountList } from './use-account-list.ts'
import { nameOf, UserRow } from './user-row.tsx'

export function Users() {
  return <RequirePassword>{(client) => <UserList client={client} />}</RequirePassword>
}

function UserList({ client }: { readonly client: Client }) {
  const { users: texts } = useTexts()
  const list = useAccountList('users', client.users.listAll)
  return (
    <>
      <NewUser client={client} onSettled={list.onSettled} />
      <ListPanel title={texts.title} list={list} none="" nameOf={(user) => `${nameOf(user)} ${user.email}`}>
        {(user) => <UserRow key={user.id} user={user} client={client} onSettled={list.onSettled} />}
      </ListPanel>
    </>
  )
}

type NewUserProps = { readonly client: Client; readonly onSettled: () => void }

/** By an emailed link, or with a password that is passed on in another way. */
function NewUser({ client, onSettled }: NewUserProps) {
  const { users: texts } = useTexts()
  const [email, setEmail] = useState('')
  const [hasPassword, setHasPassword] = useState(false)
  const mailHint = useMailHint(texts.emailHint)
  const [password, setPassword] = useState('')
  const add = useMutation({
    mutationFn: async () => {
      if (hasPassword) await client.users.create({ email, password })
      else await client.users.invite({ email })
      return { email, isInvited: !hasPassword }
    },
    onSuccess: () => {
      setEmail('')
      setPassword('')
    },
    onSettled,
  })
  const problems = useFieldProblems(add.error, 'newUser')
  return (
    <Form
      title={texts.newTitle}
      action={hasPassword ? texts.make : texts.invite}
      sending={add}
      form="newUser"
      fields={['email', 'password']}
      done={add.data && (add.data.isInvited ? texts.invited(add.data.email) : texts.made(add.data.email))}
    >
      <Field
        label={texts.email}
        hint={hasPassword ? undefined : mailHint}
        type="email"
        required
        value={email}
        problem={problems.email}
        autoComplete="off"
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Check label={texts.withPassword} checked={hasPassword} onChange={setHasPassword} />
      {hasPassword && (
        <Field
          label={texts.password}
          hint={texts.passwordHint}
          type="password"
          required
          minLength={8}
          value={password}
          problem={problems.password}
          autoComplete="new-password"
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      )}
    </Form>
  )
}
