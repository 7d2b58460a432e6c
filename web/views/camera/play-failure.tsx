// Explains why playback failed at the requested moment and offers alternatives.

import type { Camera } from '../../../sdk/index.ts'
import type { Zone } from '../../model/zone.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Failure } from '../../parts/failure.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type PlayFailureProps = {
  readonly type: Camera['type']
  readonly failure: 'nothing' | 'unplayable' | unknown
  readonly newestMs: number | undefined
  readonly zone: Zone
  readonly onPlay: (ms: number) => void
  readonly onLive: () => void
}

const beforeEndMs = 30_000

export function PlayFailure({ type, failure, newestMs, zone, onPlay, onLive }: PlayFailureProps) {
  const { camera: texts } = useTexts()
  const clock = useClock(zone)
  if (failure !== 'nothing' && failure !== 'unplayable') return <Failure error={failure} />
  return (
    <Notice kind="bad">
      <p>{failure === 'nothing' ? texts.nothingThere : type === 'h265' ? texts.unplayableH265 : texts.unplayable}</p>
      <div className="pair-of-buttons">
        {failure === 'nothing' && newestMs !== undefined && (
          <Button look="quiet" onClick={() => onPlay(newestMs - beforeEndMs)}>
            {texts.playNewest(clock.dateTime(newestMs))}
          </Button>
        )}
        <Button look="quiet" onClick={onLive}>
          {texts.toLive}
        </Button>
      </div>
    </Notice>
  )
}
