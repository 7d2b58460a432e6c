// The controls below the player.

import type { AnyCamera } from '../../app/camera-queries.ts'
import { rates } from '../../model/player-keys.ts'
import { writeOffset, type Zone } from '../../model/zone.ts'
import { useClock } from '../../parts/clock.ts'
import { IconButton } from '../../parts/icon-button.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { useFullScreen } from './full-screen.ts'
import type { LiveTransport } from './player/live-player.tsx'
import type { Commands } from './use-keys.ts'
import { type Playback, roundBehind, writeSeconds } from './use-playback.ts'

export type PlayerControlsProps = {
  readonly of: AnyCamera
  readonly playback: Playback
  readonly commands: Commands
  readonly zone: Zone
  readonly onCopyLink: () => void
}

export function PlayerControls({ of: { camera }, playback, commands, zone, onCopyLink }: PlayerControlsProps) {
  const { camera: texts, cameras } = useTexts()
  const clock = useClock(zone)
  const isFullScreen = useFullScreen()
  const { isLive, cursorMs, isPaused, isMuted, rate, setRate } = playback
  const isOnline = camera.status === 'online'
  /** Until the first image, nothing is live yet. */
  const isStarting = isOnline && playback.state === 'starting'
  const behind = isOnline && !isPaused && !isStarting ? roundBehind(playback.live?.behindMs) : undefined
  return (
    <div className="controls">
      <div className="controls-play">
        {camera.has_recording && <IconButton icon="back" label={texts.back} shortcut="←" onClick={commands.back} />}
        {(isOnline || !isLive) && (
          <IconButton
            icon={isPaused ? 'play' : 'pause'}
            label={isPaused ? texts.play : texts.pause}
            shortcut="K"
            onClick={commands.toggle}
          />
        )}
        {!isLive && <IconButton icon="forward" label={texts.forward} shortcut="→" onClick={commands.forward} />}
      </div>
      {isLive ? (
        <span className={`live-sign status status-${isStarting ? 'unknown' : camera.status}`}>
          {isStarting
            ? texts.connecting
            : isOnline
              ? isPaused
                ? texts.livePaused
                : texts.live
              : cameras.status[camera.status]}
          {behind !== undefined && `, ${texts.behind(behind)}`}
        </span>
      ) : (
        <IconButton icon="live" label={texts.toLive} shortcut="N" labels="wide" onClick={commands.live} />
      )}
      <p className="controls-time">
        <time dateTime={writeSeconds(cursorMs)}>{clock.moment(cursorMs)}</time>{' '}
        <span className="hint">{writeOffset(cursorMs, zone)}</span>
      </p>
      {isLive && (
        <label className="rate">
          <span>{texts.transport}</span>
          <select
            value={playback.transport ?? 'best'}
            onChange={({ currentTarget: { value } }) =>
              playback.setTransport(value === 'best' ? undefined : (value as LiveTransport))
            }
          >
            {(['best', 'fast', 'hls', 'images'] as const).map((each) => (
              <option key={each} value={each}>
                {texts.transports[each]}
              </option>
            ))}
          </select>
        </label>
      )}
      {!isLive && (
        <label className="rate">
          <span>{texts.speed}</span>
          <select value={rate} onChange={(event) => setRate(Number(event.currentTarget.value))}>
            {rates.map((each) => (
              <option key={each} value={each}>
                {each}×
              </option>
            ))}
          </select>
        </label>
      )}
      <div className="controls-more">
        {camera.audio_enabled && (
          <IconButton
            icon={isMuted ? 'silent' : 'audio'}
            label={isMuted ? texts.audioOn : texts.audioOff}
            shortcut="M"
            onClick={commands.audio}
          />
        )}
        <IconButton icon="snapshot" label={texts.snapshot} shortcut="S" onClick={commands.snapshot} />
        <IconButton icon="link" label={isLive ? texts.copyLink : texts.copyMoment} onClick={onCopyLink} />
        <IconButton
          icon={isFullScreen ? 'smallScreen' : 'fullScreen'}
          label={isFullScreen ? texts.leaveFullScreen : texts.fullScreen}
          shortcut="F"
          onClick={commands.fullScreen}
        />
        <IconButton icon="keys" className="controls-keys" label={texts.keys} shortcut="?" onClick={commands.help} />
      </div>
    </div>
  )
}
