// An account in the list of users and, when expanded, what an owner can do with it.

import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type Account, type AccountChange, type Client, NightjarError } from '../../../sdk/index.ts'
import { useMe } from '../../app/me-query.ts'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/check.tsx'
import { useClock } from '../../parts/clock.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { UserStorage } from './user-storage.tsx'

export type UserRowProps = {
  readonly user: Account
  readonly client: Client
  readonly onSettled: () => Promise<void>
}

export function UserRow(props: UserRowProps) {
  const { user } = props
  const { users: texts } = useTexts()
  const clock = useClock()
  const details = useId()
  const [isOpen, setOpen] = useState(false)
  const isMe = useMe().data?.id === user.id
  const name = nameOf(user)
  return (
    <li className="row">
      <div>
        <p>
          <strong>
            <bdi>{name}</bdi>
          </strong>
          {isMe && <span className="tag">{texts.you}</span>}
          {user.is_owner && <span className="tag">{texts.owner}</span>}
          {user.disabled_at !== null && <span className="tag tag-bad">{texts.disabled}</span>}
        </p>
        <p className="hint">
          {name !== user.email && `${user.email} · `}
          {texts.since(clock.date(Date.parse(user.created_at)))}
        </p>
      </div>
      {!isMe && (
        <Button
          look="quiet"
          aria-expanded={isOpen}
          aria-controls={details}
          aria-label={texts.manageOf(name)}
          onClick={() => setOpen(!isOpen)}
        >
          {texts.manage}
        </Button>
      )}
      {isOpen && !isMe && (
        <div className="row-details" id={details}>
          <UserStorage user={user} client={props.client} />
          <UserActions {...props} />
        </div>
      )}
    </li>
  )
}

function UserActions({ user, client, onSettled }: UserRowProps) {
  const { users: texts } = useTexts()
  const change = useMutation({ mutationFn: (body: AccountChange) => client.users.update(user.id, body), onSettled })
  const signOut = useMutation({ mutationFn: () => client.users.signOut(user.id), onSettled })
  const removeFactor = useMutation({ mutationFn: () => client.users.removeSecondFactor(user.id), onSettled })
  const remove = useMutation({
    // Already deleted, possibly because the response to an earlier attempt was lost. That is the desired state.
    mutationFn: () =>
      client.users.delete(user.id, { remove_cameras: true }).catch((error) => {
        if (!(error instanceof NightjarError && error.status === 404)) throw error
      }),
    onSettled,
  })
  const name = nameOf(user)
  const isDisabled = user.disabled_at !== null
  const error = change.error ?? signOut.error ?? removeFactor.error ?? remove.error
  return (
    <>
      <Check
        label={texts.manages}
        checked={user.is_owner}
        disabled={change.isPending || isDisabled}
        onChange={(isOwner) => change.mutate({ is_owner: isOwner })}
      />
      {!user.is_owner && (
        <Check
          label={texts.addsCameras}
          checked={user.may_add_cameras}
          disabled={change.isPending || isDisabled}
          onChange={(mayAdd) => change.mutate({ may_add_cameras: mayAdd })}
        />
      )}
      <div className="view-actions">
        {isDisabled ? (
          <Button look="quiet" isBusy={change.isPending} onClick={() => change.mutate({ disabled: false })}>
            {texts.enable}
          </Button>
        ) : (
          <>
            <ConfirmButton
              look="quiet"
              title={texts.signOutTitle(name)}
              text={texts.signOutText}
              action={texts.signOut}
              isBusy={signOut.isPending}
              onConfirm={() => signOut.mutate()}
            />
            <ConfirmButton
              title={texts.disableTitle(name)}
              text={texts.disableText}
              action={texts.disable}
              isBusy={change.isPending}
              onConfirm={() => change.mutate({ disabled: true })}
            />
          </>
        )}
        {user.has_second_factor && (
          <ConfirmButton
            title={texts.removeFactorTitle(name)}
            text={texts.removeFactorText}
            action={texts.removeFactor}
            isBusy={removeFactor.isPending}
            onConfirm={() => removeFactor.mutate()}
          />
        )}
        <ConfirmButton
          title={texts.removeTitle(name)}
          text={texts.removeText}
          action={texts.remove}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
        />
      </div>
      {error && <Failure error={error} form="user" />}
      {removeFactor.isSuccess && (
        <p className="hint" role="status">
          {texts.factorRemoved}
        </p>
      )}
      {signOut.isSuccess && (
        <p className="hint" role="status">
          {texts.signedOut}
        </p>
      )}
    </>
  )
}

export function nameOf({ first_name, last_name, email }: Account): string {
  return [first_name, last_name].filter(Boolean).join(' ') || email
}
