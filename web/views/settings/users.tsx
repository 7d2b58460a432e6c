// All accounts of the server, for its owners: who there is, somebody new, and who may not come in any more.

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account, AccountChange, Client } from '../../../sdk/index.ts'
import { useMe } from '../../app/me-query.ts'
import { AccountGate } from '../../parts/account-gate.tsx'
import { AskingButton } from '../../parts/asking-button.tsx'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/check.tsx'
import { useClock } from '../../parts/clock.ts'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { readFieldProblems } from '../../parts/field-problems.ts'
import { Form } from '../../parts/form.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useAccountList } from './use-account-list.ts'

export function Users() {
  return <AccountGate>{(client) => <UserList client={client} />}</AccountGate>
}

function UserList({ client }: { readonly client: Client }) {
  const { users: texts } = useTexts()
  const list = useAccountList('users', client.users.listAll)
  return (
    <>
      <NewUser client={client} onSettled={list.onSettled} />
      <ListPanel title={texts.title} list={list} none="">
        {(user) => <UserRow key={user.id} user={user} client={client} onSettled={list.onSettled} />}
      </ListPanel>
    </>
  )
}

type NewUserProps = { readonly client: Client; readonly onSettled: () => void }

/** By a link in a mail, or with a password that is told in another way. */
function NewUser({ client, onSettled }: NewUserProps) {
  const { users: texts } = useTexts()
  const [email, setEmail] = useState('')
  const [hasPassword, setHasPassword] = useState(false)
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
  const problems = readFieldProblems(add.error)
  return (
    <Form
      title={texts.newTitle}
      action={hasPassword ? texts.make : texts.invite}
      sending={add}
      fields={['email', 'password']}
      done={add.data && (add.data.isInvited ? texts.invited(add.data.email) : texts.made(add.data.email))}
    >
      <Field
        label={texts.email}
        hint={hasPassword ? undefined : texts.emailHint}
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

type UserRowProps = { readonly user: Account; readonly client: Client; readonly onSettled: () => Promise<void> }

function UserRow({ user, client, onSettled }: UserRowProps) {
  const { users: texts } = useTexts()
  const clock = useClock()
  const isMe = useMe().data?.id === user.id
  const change = useMutation({ mutationFn: (body: AccountChange) => client.users.update(user.id, body), onSettled })
  const signOut = useMutation({ mutationFn: () => client.users.signOut(user.id), onSettled })
  const name = [user.first_name, user.last_name].filter(Boolean).join(' ')
  const isDisabled = user.disabled_at !== null
  const error = change.error ?? signOut.error
  return (
    <li className="row">
      <div>
        <p>
          <strong>{name || user.email}</strong>
          {isMe && <span className="tag">{texts.you}</span>}
          {user.is_owner && <span className="tag">{texts.owner}</span>}
          {isDisabled && <span className="tag tag-bad">{texts.disabled}</span>}
        </p>
        <p className="hint">
          {name && `${user.email} · `}
          {texts.since(clock.date(Date.parse(user.created_at)))}
        </p>
        {error && <Failure error={error} />}
        {signOut.isSuccess && (
          <p className="hint" role="status">
            {texts.signedOut}
          </p>
        )}
      </div>
      {!isMe && (
        <>
          <Check
            label={texts.manages}
            checked={user.is_owner}
            disabled={change.isPending || isDisabled}
            onChange={(isOwner) => change.mutate({ is_owner: isOwner })}
          />
          {isDisabled ? (
            <Button look="quiet" isBusy={change.isPending} onClick={() => change.mutate({ disabled: false })}>
              {texts.enable}
            </Button>
          ) : (
            <>
              <AskingButton
                look="quiet"
                title={texts.signOutTitle(name || user.email)}
                text={texts.signOutText}
                action={texts.signOut}
                isBusy={signOut.isPending}
                onConfirm={() => signOut.mutate()}
              />
              <AskingButton
                title={texts.disableTitle(name || user.email)}
                text={texts.disableText}
                action={texts.disable}
                isBusy={change.isPending}
                onConfirm={() => change.mutate({ disabled: true })}
              />
            </>
          )}
        </>
      )}
    </li>
  )
}
