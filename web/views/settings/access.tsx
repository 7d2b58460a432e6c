// Who is in: applications one has let in, and browsers that are signed in.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Client } from '../../../sdk/index.ts'
import { AccountGate } from '../../parts/account-gate.tsx'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Failure } from '../../parts/failure.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function Access() {
  return (
    <AccountGate>
      {(client) => (
        <>
          <Authorizations client={client} />
          <Browsers client={client} />
        </>
      )}
    </AccountGate>
  )
}

const authorizationsKey = ['account', 'authorizations'] as const
const sessionsKey = ['account', 'sessions'] as const

function Authorizations({ client }: { readonly client: Client }) {
  const { access: texts } = useTexts()
  const clock = useClock()
  const list = useQuery({
    queryKey: authorizationsKey,
    queryFn: ({ signal }) => client.authorizations.list({ limit: 1000 }, { signal }),
  })
  return (
    <div className="panel">
      <h2>{texts.applications}</h2>
      {list.error && !list.data && <Failure error={list.error} onAgain={() => list.refetch()} />}
      {list.data?.results.length === 0 && <p className="hint">{texts.noApplications}</p>}
      <ul className="rows">
        {list.data?.results.map((each) => (
          <EndableRow
            key={each.id}
            invalidates={authorizationsKey}
            action={texts.end}
            end={() => client.authorizations.delete(each.id)}
          >
            <strong>{each.application.name}</strong>
            <p className="hint">
              {texts.lastUsed(clock.dateTime(Date.parse(each.last_used_at)), each.last_ip)} · {each.scope}
            </p>
          </EndableRow>
        ))}
      </ul>
    </div>
  )
}

function Browsers({ client }: { readonly client: Client }) {
  const { access: texts } = useTexts()
  const clock = useClock()
  const list = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => client.sessions.list({ limit: 1000 }, { signal }),
  })
  return (
    <div className="panel">
      <h2>{texts.browsers}</h2>
      {list.error && !list.data && <Failure error={list.error} onAgain={() => list.refetch()} />}
      <ul className="rows">
        {list.data?.results.map((each) => (
          <EndableRow
            key={each.id}
            invalidates={sessionsKey}
            action={texts.signOut}
            end={() => client.sessions.delete(each.id)}
          >
            <strong>{each.user_agent ?? texts.unknownBrowser}</strong>
            <p className="hint">{texts.lastUsed(clock.dateTime(Date.parse(each.last_seen_at)), each.ip)}</p>
          </EndableRow>
        ))}
      </ul>
    </div>
  )
}

type EndableRowProps = {
  readonly invalidates: readonly string[]
  readonly action: string
  readonly end: () => Promise<unknown>
  readonly children: ReactNode
}

function EndableRow({ invalidates, action, end, children }: EndableRowProps) {
  const queries = useQueryClient()
  const ending = useMutation({ mutationFn: end, onSettled: () => queries.invalidateQueries({ queryKey: invalidates }) })
  return (
    <li className="row">
      <div>
        {children}
        {ending.error && <Failure error={ending.error} />}
      </div>
      <Button look="danger" isBusy={ending.isPending} onClick={() => ending.mutate()}>
        {action}
      </Button>
    </li>
  )
}
