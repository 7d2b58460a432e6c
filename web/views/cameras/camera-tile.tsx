// A camera on the wall: image, name, and a label if something is wrong.

import { Link } from 'wouter'
import type { AnyCamera } from '../../app/camera-queries.ts'
import { useIsOffline } from '../../app/use-is-offline.ts'
import { findShortMessage, offlineErrorOf } from '../../model/offline-messages.ts'
import { LiveTile } from '../../parts/live-tile.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type CameraTileProps = {
  readonly of: AnyCamera
  /** For URLs of images in another size. */
  readonly isWaiting: boolean
  /** It may keep a connection for itself. */
  readonly isStreamed: boolean
}

export function CameraTile({ of, isWaiting, isStreamed }: CameraTileProps) {
  const { cameras: texts, detection } = useTexts()
  const isServerOffline = useIsOffline()
  const { kind, camera } = of
  const isOnline = camera.status === 'online'
  const isOffline = camera.status === 'offline'
  const problem = kind === 'own' && isOffline ? findShortMessage(offlineErrorOf(camera), detection) : undefined
  // Not known while the server is away. While the camera is, nothing is recorded.
  const status = isServerOffline || isOffline ? null : camera.recording_status
  const recording = status === null ? undefined : texts.recording[status]
  const labels = isServerOffline ? texts.noServer : isOnline ? undefined : texts.status[camera.status]
  return (
    <li className="tile">
      <Link href={kind === 'own' ? `/cameras/${camera.id}` : `/shared/${camera.id}`} className="tile-link">
        <span className="tile-image">
          <LiveTile
            camera={camera}
            isWaiting={isWaiting}
            isOld={isServerOffline || isOffline}
            isStreamed={isStreamed}
          />
          {labels !== undefined && (
            <span className="tile-caption" aria-hidden="true">
              {labels}
            </span>
          )}
        </span>
        <span className="tile-name" title={camera.name}>
          <span className={`status status-${isServerOffline ? 'unknown' : camera.status}`} aria-hidden="true" />
          <bdi>{camera.name}</bdi>
        </span>
      </Link>
      <p className="tile-facts">
        <span className="unseen">{isServerOffline ? texts.noServer : texts.status[camera.status]}</span>
        {kind === 'shared' && (
          <span className="tile-owner">{texts.of(camera.owner.first_name || camera.owner.email)}</span>
        )}
        {recording !== undefined && <span className={status === 'ERROR' ? 'error' : undefined}>{recording}</span>}
      </p>
      {problem !== undefined && <p className="hint tile-problem">{problem}</p>}
    </li>
  )
}
