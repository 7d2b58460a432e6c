// Personal access tokens for the user's own programs. The value is shown once.

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Client, PersonalToken } from '../../../sdk/index.ts'
import { accountScope } from '../../app/sign-in.ts'
import { Choice } from '../../parts/choice.tsx'
import { useClock } from '../../parts/clock.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { RequirePassword } from '../../parts/require-password.tsx'
import { Secret } from '../../parts/secret.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useAccountList } from './use-account-list.ts'

const accesses = ['read', 'user_access', accountScope] as const
type Access = (typeof accesses)[number]

const lastings = ['always', 'days30', 'days90', 'days365'] as const
type Lasting = (typeof lastings)[number]

const dayMs = 86_400_000

function findEnd(lasting: Lasting): { expires_at?: Date } {
  return lasting === 'always' ? {} : { expires_at: new Date(Date.now() + Number(lasting.slice(4)) * dayMs) }
}

export function Tokens() {
  return <RequirePassword>{(client) => <TokenList client={client} />}</RequirePassword>
}

function TokenList({ client }: { readonly client: Client }) {
  const { tokens: texts } = useTexts()
  const [name, setName] = useState('')
  const [access, setAccess] = useState<Access>('user_access')
  const [lasting, setLasting] = useState<Lasting>('always')
  const list = useAccountList('tokens', client.tokens.listAll)
  const create = useMutation({
    mutationFn: () => client.tokens.create({ name, scope: access, ...findEnd(lasting) }),
    onSuccess: () => {
      setName('')
      setAccess('user_access')
      setLasting('always')
    },
    onSettled: list.onSettled,
  })
  return (
    <>
      <Form title={texts.newTitle} action={texts.create} sending={create} form="tokens">
        <Field
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          required
          maxLength={200}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className="pair">
          <Choice
            label={texts.access}
            value={access}
            options={accesses.map((value) => ({ value, label: texts.accesses[value] }))}
            onChange={setAccess}
          />
          <Choice
            label={texts.lasting}
            value={lasting}
            options={lastings.map((value) => ({ value, label: texts.lastings[value] }))}
            onChange={setLasting}
          />
        </div>
        {create.data && <Secret label={texts.made(create.data.name)} value={create.data.token} />}
      </Form>
      <ListPanel title={texts.title} list={list} none={texts.none} nameOf={({ name }) => name}>
        {(token) => <TokenRow key={token.id} token={token} client={client} onSettled={list.onSettled} />}
      </ListPanel>
    </>
  )
}

type RowProps = { readonly token: PersonalToken; readonly client: Client; readonly onSettled: () => void }

function TokenRow({ token, client, onSettled }: RowProps) {
  const { tokens: texts } = useTexts()
  const clock = useClock()
  const remove = useMutation({ mutationFn: () => client.tokens.delete(token.id), onSettled })
  const used =
    token.last_used_at === null ? texts.neverUsed : texts.used(clock.dateTime(Date.parse(token.last_used_at)))
  const reach = [
    texts.reads[token.scope] ?? token.scope,
    ...(token.expires_at === null ? [] : [texts.until(clock.dateTime(Date.parse(token.expires_at)))]),
  ]
  return (
    <li className="row">
      <div>
        <strong>
          <bdi>{token.name}</bdi>
        </strong>
        <p className="hint">
          <code>
            {token.prefix}…{token.last_four}
          </code>{' '}
          · {[...reach, used].join(' · ')}
        </p>
        {remove.error && <Failure error={remove.error} />}
      </div>
      <ConfirmButton
        title={texts.revokeTitle(token.name)}
        text={texts.revokeText}
        action={texts.revoke}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </li>
  )
}
