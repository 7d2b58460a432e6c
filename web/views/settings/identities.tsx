// Linked accounts at identity providers. Linking another one goes through a page of the server and one of the provider.

import { useMutation } from '@tanstack/react-query'
import type { Client, Identity } from '../../../sdk/index.ts'
import { useClock } from '../../parts/clock.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { pagePath } from '../../parts/page-path.ts'
import { useLanguage, useTexts } from '../../texts/texts.tsx'
import { useAccountList } from './use-account-list.ts'

/** Renders nothing if the server has no providers and the account has no links. */
export function Identities({ client }: { readonly client: Client }) {
  const { identities: texts } = useTexts()
  const { language } = useLanguage()
  const providers = useAccountList('identity-providers', client.identities.listAllProviders)
  const list = useAccountList('identities', client.identities.listAll)
  const onSettled = async () => void (await Promise.all([list.onSettled(), providers.onSettled()]))
  const free = (providers.data ?? []).filter(({ is_linked: isLinked }) => !isLinked)
  if (!providers.data?.length && !list.data?.length) return null
  return (
    <>
      <ListPanel title={texts.title} list={list} none={texts.none} nameOf={nameOf}>
        {(identity) => <IdentityRow key={identity.id} identity={identity} client={client} onSettled={onSettled} />}
      </ListPanel>
      {free.length > 0 && (
        <div className="form-end">
          <a className="action action-quiet" href={pagePath('/account/providers/', language)}>
            {texts.link(free.map(({ name }) => name))}
          </a>
        </div>
      )}
    </>
  )
}

type RowProps = { readonly identity: Identity; readonly client: Client; readonly onSettled: () => Promise<void> }

function IdentityRow({ identity, client, onSettled }: RowProps) {
  const { identities: texts } = useTexts()
  const clock = useClock()
  const remove = useMutation({ mutationFn: () => client.identities.delete(identity.id), onSettled })
  const { provider, email, created_at: linkedAt, last_used_at: usedAt } = identity
  const time = clock.dateTime(Date.parse(usedAt ?? linkedAt))
  return (
    <li className="row">
      <div>
        <strong>
          <bdi>{nameOf(identity)}</bdi>
        </strong>
        <p className="hint">
          {email !== null && `${email} · `}
          {usedAt === null ? texts.linked(time) : texts.lastUsed(time)}
          {provider === null && ` · ${texts.gone}`}
        </p>
        {remove.error && <Failure error={remove.error} form="identities" />}
      </div>
      <ConfirmButton
        title={texts.removeTitle(nameOf(identity))}
        text={texts.removeText}
        action={texts.remove}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </li>
  )
}

const nameOf = ({ provider, issuer }: Identity): string => provider?.name ?? issuer
