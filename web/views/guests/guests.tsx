// Guests of a camera: invite by email, change permissions, remove.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'wouter'
import { type Client, type Guest, type NewGuest, NightjarError } from '../../../sdk/index.ts'
import { camerasKey, useCamera } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useMe } from '../../app/me-query.ts'
import { readAll } from '../../app/read-all.ts'
import { useMailHint } from '../../app/server-query.ts'
import { Button } from '../../parts/button.tsx'
import { Check } from '../../parts/check.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Field } from '../../parts/field.tsx'
import { useFieldProblems } from '../../parts/field-problems.tsx'
import { Form } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { useSearch } from '../../parts/search.tsx'
import { Secret } from '../../parts/secret.tsx'
import { useTexts } from '../../texts/texts.tsx'

const guestsKey = (cameraId: number) => [...camerasKey, 'own', cameraId, 'guests'] as const

export function Guests() {
  const { id } = useParams<{ id: string }>()
  const cameraId = Number(id)
  const { guests: texts, loading } = useTexts()
  const client = useClient()
  const camera = useCamera('own', cameraId)
  const guests = useQuery({
    queryKey: guestsKey(cameraId),
    queryFn: ({ signal }) => readAll(client.guests.listAll(cameraId, { limit: 1000 }, { signal })),
    refetchInterval: 10_000,
  })
  const { found, field } = useSearch(guests.data ?? [], (guest) => `${nameOf(guest)} ${guest.email}`)
  const name = camera.data?.camera.name ?? ''
  return (
    <Page title={texts.title(name)} above={{ name: name || texts.toCamera, href: `/cameras/${id}` }}>
      <InviteForm cameraId={cameraId} />
      <section aria-label={texts.list}>
        <h2>{texts.list}</h2>
        {guests.error && !guests.data && <Failure error={guests.error} onAgain={() => guests.refetch()} />}
        {guests.isLoading && <p>{loading}</p>}
        {guests.data?.length === 0 && (
          <Empty title={texts.noneTitle}>
            <p>{texts.none}</p>
          </Empty>
        )}
        {field}
        {found.length > 0 && (
          <ul className="panel rows">
            {found.map((guest) => (
              <GuestRow key={guest.id} cameraId={cameraId} guest={guest} />
            ))}
          </ul>
        )}
      </section>
    </Page>
  )
}

function InviteForm({ cameraId }: { readonly cameraId: number }) {
  const { guests: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [canViewRec, setCanViewRec] = useState(false)
  const mailHint = useMailHint(texts.emailHint)
  const invite = useMutation({
    mutationFn: () => inviteGuest(client, cameraId, { email, permissions: { can_view_rec: canViewRec } }),
    onSuccess: () => setEmail(''),
    onSettled: () => queries.invalidateQueries({ queryKey: guestsKey(cameraId) }),
  })
  const problems = useFieldProblems(invite.error, 'guests')
  return (
    <Form
      action={texts.invite}
      sending={invite}
      form="guests"
      fields={['email']}
      done={texts.invited(invite.data?.email ?? '')}
    >
      <Field
        label={texts.email}
        hint={mailHint}
        type="email"
        required
        value={email}
        problem={problems.email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Check label={texts.canViewRec} checked={canViewRec} onChange={setCanViewRec} />
    </Form>
  )
}

function GuestRow({ cameraId, guest }: { readonly cameraId: number; readonly guest: Guest }) {
  const { guests: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  /** The new value, until the list confirms it. */
  const [wanted, setWanted] = useState<boolean>()
  const onSettled = () => queries.invalidateQueries({ queryKey: guestsKey(cameraId) })
  const change = useMutation({
    mutationFn: (canViewRec: boolean) =>
      client.guests.update(cameraId, guest.id, { permissions: { can_view_rec: canViewRec } }),
    onSettled: () => onSettled().then(() => setWanted(undefined)),
  })
  const remove = useMutation({ mutationFn: () => client.guests.delete(cameraId, guest.id), onSettled })
  const link = useMutation({ mutationFn: () => client.guests.createLink(cameraId, guest.id) })
  const isServerOwner = useMe().data?.is_owner === true
  const name = nameOf(guest)
  const error = change.error ?? remove.error ?? link.error
  return (
    <li className="row">
      <div>
        <strong>
          <bdi>{name || guest.email}</bdi>
        </strong>
        <p className="hint">{name ? guest.email : texts.pending}</p>
        {error && <Failure error={error} />}
        {link.data && !name && <Secret label={texts.linkFor(guest.email)} value={link.data.link} />}
      </div>
      <Check
        label={texts.canViewRec}
        checked={wanted ?? guest.permissions.can_view_rec}
        disabled={change.isPending}
        onChange={(canViewRec) => {
          setWanted(canViewRec)
          change.mutate(canViewRec)
        }}
      />
      {isServerOwner && !name && !link.data && (
        <Button look="quiet" disabled={link.isPending} onClick={() => link.mutate()}>
          {texts.link}
        </Button>
      )}
      <ConfirmButton
        title={texts.removeTitle(name || guest.email)}
        text={texts.removeText}
        action={texts.remove}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </li>
  )
}

/** Empty until the guest has opened the camera. */
function nameOf({ first_name, last_name }: Guest): string {
  return [first_name, last_name].filter(Boolean).join(' ')
}

/** A guest who was invited although the response was lost is found in the list. */
async function inviteGuest(client: Client, cameraId: number, guest: NewGuest): Promise<Guest> {
  try {
    return await client.guests.create(cameraId, guest)
  } catch (error) {
    if (!(error instanceof NightjarError) || error.status !== 0) throw error
    const guests = await readAll(client.guests.listAll(cameraId)).catch(() => [])
    const wanted = guest.email.trim().toLowerCase()
    const invited = guests.find(({ email }) => email.toLowerCase() === wanted)
    if (!invited) throw error
    return invited
  }
}
