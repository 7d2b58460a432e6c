// Applications that the user has authorized, and the user's sessions.

import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Client } from '../../../sdk/index.ts'
import { nameBrowser } from '../../model/browser-name.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Failure } from '../../parts/failure.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { RequirePassword } from '../../parts/require-password.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Identities } from './identities.tsx'
import { useAccountList } from './use-account-list.ts'

export function Access() {
  return (
    <RequirePassword>
      {(client) => (
        <>
          <Authorizations client={client} />
          <Browsers client={client} />
          <Identities client={client} />
        </>
      )}
    </RequirePassword>
  )
}

function Authorizations({ client }: { readonly client: Client }) {
  const { access: texts } = useTexts()
  const clock = useClock()
  const list = useAccountList('authorizations', client.authorizations.listAll)
  return (
    <ListPanel
      title={texts.applications}
      list={list}
      none={texts.noApplications}
      nameOf={({ application }) => application.name}
    >
      {(each) => (
        <EndableRow
          key={each.id}
          onSettled={list.onSettled}
          action={texts.end}
          end={() => client.authorizations.delete(each.id)}
        >
          <strong>{each.application.name}</strong>
          <p className="hint">
            {texts.lastUsed(clock.dateTime(Date.parse(each.last_used_at)), each.last_ip)} · {each.scope}
          </p>
        </EndableRow>
      )}
    </ListPanel>
  )
}

function Browsers({ client }: { readonly client: Client }) {
  const { access: texts } = useTexts()
  const clock = useClock()
  const list = useAccountList('sessions', client.sessions.listAll)
  return (
    <ListPanel
      title={texts.browsers}
      list={list}
      none={texts.noBrowsers}
      nameOf={({ user_agent: name, ip }) => `${nameBrowser(name ?? '')} ${ip}`}
    >
      {(each) => (
        <EndableRow
          key={each.id}
          onSettled={list.onSettled}
          action={texts.signOut}
          end={() => client.sessions.delete(each.id)}
        >
          <strong title={each.user_agent ?? undefined}>
            {each.user_agent ? nameBrowser(each.user_agent) : texts.unknownBrowser}
          </strong>
          <p className="hint">
            {[
              each.is_current && texts.thisBrowser,
              texts.lastUsed(clock.dateTime(Date.parse(each.last_seen_at)), each.ip),
              each.second_factor && texts.secondFactors[each.second_factor],
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </EndableRow>
      )}
    </ListPanel>
  )
}

type EndableRowProps = {
  readonly action: string
  readonly end: () => Promise<unknown>
  readonly onSettled: () => void
  readonly children: ReactNode
}

function EndableRow({ action, end, onSettled, children }: EndableRowProps) {
  const ending = useMutation({ mutationFn: end, onSettled })
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
