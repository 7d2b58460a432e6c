// Personal access tokens: for one's own programs. The value is shown once.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Client, PersonalToken } from '../../../sdk/index.ts'
import { AccountGate } from '../../parts/account-gate.tsx'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { Secret } from '../../parts/secret.tsx'
import { useTexts } from '../../texts/texts.tsx'

const key = ['account', 'tokens'] as const

export function Tokens() {
  return <AccountGate>{(client) => <TokenList client={client} />}</AccountGate>
}

function TokenList({ client }: { readonly client: Client }) {
  const { tokens: texts } = useTexts()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const tokens = useQuery({ queryKey: key, queryFn: ({ signal }) => client.tokens.list({ limit: 1000 }, { signal }) })
  const onSettled = () => queries.invalidateQueries({ queryKey: key })
  const create = useMutation({
    mutationFn: () => client.tokens.create({ name }),
    onSuccess: () => setName(''),
    onSettled,
  })
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
          hint={texts.nameHint}
          value={name}
          required
          maxLength={200}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {create.error && <Failure error={create.error} />}
        {create.data && <Secret label={texts.made(create.data.name)} value={create.data.token} />}
        <div className="form-end">
          <Button type="submit" isBusy={create.isPending}>
            {texts.create}
          </Button>
        </div>
      </form>
      <div className="panel">
        <h2>{texts.title}</h2>
        {tokens.error && !tokens.data && <Failure error={tokens.error} onAgain={() => tokens.refetch()} />}
        {tokens.data?.results.length === 0 && <p className="hint">{texts.none}</p>}
        <ul className="rows">
          {tokens.data?.results.map((token) => (
            <TokenRow key={token.id} token={token} client={client} onSettled={onSettled} />
          ))}
        </ul>
      </div>
    </>
  )
}

type RowProps = { readonly token: PersonalToken; readonly client: Client; readonly onSettled: () => void }

function TokenRow({ token, client, onSettled }: RowProps) {
  const { tokens: texts } = useTexts()
  const clock = useClock()
  const [isAsked, setAsked] = useState(false)
  const remove = useMutation({ mutationFn: () => client.tokens.delete(token.id), onSettled })
  const used =
    token.last_used_at === null ? texts.neverUsed : texts.used(clock.dateTime(Date.parse(token.last_used_at)))
  return (
    <li className="row">
      <div>
        <strong>{token.name}</strong>
        <p className="hint">
          <code>
            {token.prefix}…{token.last_four}
          </code>{' '}
          · {used}
        </p>
        {remove.error && <Failure error={remove.error} />}
      </div>
      <Button look="danger" isBusy={remove.isPending} onClick={() => setAsked(true)}>
        {texts.revoke}
      </Button>
      {isAsked && (
        <Confirm
          title={texts.revokeTitle(token.name)}
          text={texts.revokeText}
          action={texts.revoke}
          onClose={() => setAsked(false)}
          onConfirm={() => remove.mutate()}
        />
      )}
    </li>
  )
}
