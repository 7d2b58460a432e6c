// One camera on the wall.

import { Link } from 'wouter'
import { findStreamUrl } from '../../../sdk/index.ts'
import type { AnyCamera } from '../../app/camera-queries.ts'
import { LivePicture } from '../../parts/live-picture.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type CameraTileProps = {
  readonly of: AnyCamera
  /** For addresses of pictures of another size. */
  readonly isWaiting: boolean
}

export function CameraTile({ of, isWaiting }: CameraTileProps) {
  const { cameras: texts } = useTexts()
  const { kind, camera } = of
  const isOnline = camera.status === 'online'
  const address = kind === 'own' ? `/cameras/${camera.id}` : `/shared/${camera.id}`
  return (
    <li className="tile">
      <Link href={address} className="tile-link">
        <span className="tile-picture">
          <LivePicture
            url={isOnline && !isWaiting ? findStreamUrl(camera, 'mjpeg') : undefined}
            poster={camera.snapshot?.url}
            alt=""
          />
        </span>
        <span className="tile-name">{camera.name}</span>
      </Link>
      <p className="tile-facts">
        <span className={`status status-${camera.status}`}>{texts.status[camera.status]}</span>
        {camera.has_recording && <span className="tag">{texts.recording}</span>}
        {kind === 'shared' && <span>{texts.of(camera.owner.first_name || camera.owner.email)}</span>}
      </p>
      {kind === 'own' && camera.status_reason !== null && <p className="hint">{camera.status_reason}</p>}
    </li>
  )
}
