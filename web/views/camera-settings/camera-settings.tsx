// Settings of an owned camera: name and URL, recording, and deletion.

import { useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { type Camera, findStreamUrl } from '../../../sdk/index.ts'
import { camerasKey, type TileView, useCamera } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { findMessage, offlineErrorOf } from '../../model/offline-messages.ts'
import { ErrorText } from '../../parts/error-text.tsx'
import { Failure } from '../../parts/failure.tsx'
import { LiveImage } from '../../parts/live-image.tsx'
import { Page } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import './camera-settings.css'
import { RecordingForm } from './recording-form.tsx'
import { RemoveCamera } from './remove-camera.tsx'
import { SourceForm } from './source-form.tsx'
import { Statistics } from './statistics.tsx'

const preview: TileView = { max_width: 480, max_height: 270, refresh_rate: 1 }

export function CameraSettings() {
  const id = Number(useParams<{ id: string }>().id)
  const { cameraSettings: texts, loading } = useTexts()
  const client = useClient()
  const camera = useCamera('own', id, preview)
  const source = useQuery({
    queryKey: [...camerasKey, 'own', id, 'source'],
    queryFn: ({ signal }) => client.cameras.getSource(id, { signal }),
    // A form must not change while the user edits it.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const failed = [camera, source].find(({ data, error }) => error !== null && data === undefined)
  return (
    <Page
      title={camera.data ? texts.title(camera.data.camera.name) : texts.noCamera}
      above={{ name: camera.data?.camera.name ?? texts.toCamera, href: `/cameras/${id}` }}
    >
      {failed && <Failure error={failed.error} onAgain={() => failed.refetch()} />}
      {!failed && !(camera.data && source.data) && <p>{loading}</p>}
      {camera.data?.kind === 'own' && source.data && (
        <div className="camera-settings">
          <CameraState camera={camera.data.camera} />
          <SourceForm key={id} camera={camera.data.camera} source={source.data} />
          <RecordingForm camera={camera.data.camera} />
          <Statistics camera={camera.data.camera} />
          <RemoveCamera camera={camera.data.camera} />
        </div>
      )}
    </Page>
  )
}

/** Shows whether the changed settings work. */
function CameraState({ camera }: { readonly camera: Camera }) {
  const { cameras: texts, detection } = useTexts()
  const problem = findMessage(offlineErrorOf(camera), detection)
  const url = camera.status === 'online' ? findStreamUrl(camera, 'mjpeg') : undefined
  return (
    <div className="panel camera-state">
      <span className="tile-image">
        <LiveImage url={url} poster={camera.snapshot?.url} alt="" isOld={camera.status === 'offline'} />
      </span>
      <div role="status">
        <p className={`status status-${camera.status}`}>{texts.status[camera.status]}</p>
        {problem !== undefined && (
          <p className="hint">
            <ErrorText message={problem} />
          </p>
        )}
      </div>
    </div>
  )
}
