// A camera on the wall: image, name, and a label if something is wrong.

import { Link } from 'wouter'
import { findStreamUrl } from '../../../sdk/index.ts'
import type { AnyCamera } from '../../app/camera-queries.ts'
import { useIsLost } from '../../app/use-is-lost.ts'
import { findShortWords, troubleOf } from '../../model/offline-words.ts'
import { LivePicture } from '../../parts/live-picture.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type CameraTileProps = {
  readonly of: AnyCamera
  /** For URLs of images in another size. */
  readonly isWaiting: boolean
}

export function CameraTile({ of, isWaiting }: CameraTileProps) {
  const { cameras: texts, detection } = useTexts()
  const isLost = useIsLost()
  const { kind, camera } = of
  const isOnline = camera.status === 'online'
  const isOffline = camera.status === 'offline'
  const trouble = kind === 'own' && isOffline ? findShortWords(troubleOf(camera), detection) : undefined
  const words = isLost ? texts.noServer : isOnline ? undefined : texts.status[camera.status]
  return (
    <li className="tile">
      <Link href={kind === 'own' ? `/cameras/${camera.id}` : `/shared/${camera.id}`} className="tile-link">
        <span className="tile-picture">
          <LivePicture
            url={isOnline && !isWaiting ? findStreamUrl(camera, 'mjpeg') : undefined}
            poster={camera.snapshot?.url}
            alt=""
            isOld={isLost || isOffline}
          />
          {words !== undefined && (
            <span className="tile-words" aria-hidden="true">
              {words}
            </span>
          )}
        </span>
        <span className="tile-name" title={camera.name}>
          <span className={`status status-${isLost ? 'unknown' : camera.status}`} aria-hidden="true" />
          <bdi>{camera.name}</bdi>
        </span>
      </Link>
      <p className="tile-facts">
        <span className="unseen">{isLost ? texts.noServer : texts.status[camera.status]}</span>
        {kind === 'shared' && (
          <span className="tile-owner">{texts.of(camera.owner.first_name || camera.owner.email)}</span>
        )}
        {camera.has_recording && <span className="tile-recording">{texts.recording}</span>}
      </p>
      {trouble !== undefined && <p className="hint tile-trouble">{trouble}</p>}
    </li>
  )
}
