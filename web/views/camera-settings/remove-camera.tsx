// Deletes a camera and everything that belongs to it.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { type Camera, NightjarError } from '../../../sdk/index.ts'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useStorage } from '../../app/storage-query.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useSizes } from '../../parts/sizes.ts'
import { useTexts } from '../../texts/texts.tsx'

export function RemoveCamera({ camera }: { readonly camera: Camera }) {
  const { cameraSettings: texts } = useTexts()
  const client = useClient()
  const queries = useQueryClient()
  const sizes = useSizes()
  const [, go] = useLocation()
  const used = useStorage().data?.cameras.find(({ id }) => id === camera.id)?.used_bytes ?? 0
  const text = texts.removeText(used === 0 ? undefined : sizes(used))
  const remove = useMutation({
    mutationFn: () =>
      client.cameras.delete(camera.id).catch((error: unknown) => {
        // Already deleted: the response to an earlier attempt was lost.
        if (!(error instanceof NightjarError) || error.status !== 404) throw error
      }),
    onSuccess: () => {
      go('/', { replace: true })
      queries.removeQueries({ queryKey: [...camerasKey, 'own', camera.id] })
      void queries.invalidateQueries({ queryKey: camerasKey })
    },
  })
  return (
    <div className="panel">
      <h2>{texts.remove}</h2>
      <p>{text}</p>
      {remove.error && <Failure error={remove.error} />}
      <div className="form-end">
        <ConfirmButton
          title={texts.removeTitle(camera.name)}
          text={text}
          action={texts.removeAction}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
        />
      </div>
    </div>
  )
}
