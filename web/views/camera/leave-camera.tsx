// Lets a guest give up a shared camera. Asks for confirmation, because only the owner can share it again.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { NightjarError, type SharedCamera } from '../../../sdk/index.ts'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function LeaveCamera({ camera: { id, name, owner } }: { readonly camera: SharedCamera }) {
  const { leave: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const leave = useMutation({
    // Already gone, possibly because the response to an earlier attempt was lost. That is the desired state.
    mutationFn: () =>
      client.sharedCameras.delete(id).catch((error) => {
        if (!(error instanceof NightjarError && error.status === 404)) throw error
      }),
    onSuccess: async () => {
      go('/', { replace: true })
      await queries.invalidateQueries({ queryKey: camerasKey })
    },
  })
  return (
    <>
      {leave.error && <Failure error={leave.error} />}
      <ConfirmButton
        look="quiet"
        title={texts.title(name)}
        text={texts.text(owner.first_name || owner.email)}
        action={texts.action}
        isBusy={leave.isPending}
        onConfirm={() => leave.mutate()}
      />
    </>
  )
}
