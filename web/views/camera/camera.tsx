// One camera: live, and any moment of its recordings. `?at=` in the address is the moment; without it, live.

import { useCallback, useMemo, useRef, useState } from 'react'
import { Link, useParams, useSearchParams } from 'wouter'
import { NightjarError } from '../../../sdk/index.ts'
import { type AnyCamera, type CameraKind, useCamera } from '../../app/camera-queries.ts'
import { follow, type View, viewOfDay, zoom } from '../../model/timeline-view.ts'
import { createZone } from '../../model/zone.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { MomentPicture } from '../../parts/moment-picture.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import './camera.css'
import { useClock } from '../../parts/clock.ts'
import { useFootage, useRecording, writeTime } from './footage-queries.ts'
import { LivePlayer } from './player/live-player.tsx'
import { RecordedPlayer } from './player/recorded-player.tsx'
import { Timeline } from './timeline.tsx'
import { useNow } from './use-clock.ts'

const rates = [0.5, 1, 2, 4, 8, 16] as const
const jumpMs = 10_000

export function OwnCamera() {
  return <CameraById kind="own" />
}

export function SharedCameraView() {
  return <CameraById kind="shared" />
}

function CameraById({ kind }: { readonly kind: CameraKind }) {
  const { id } = useParams<{ id: string }>()
  const { loading, cameras } = useTexts()
  const camera = useCamera(kind, Number(id))
  // It was there, and is not any more, or not for this person.
  const isGone = camera.error instanceof NightjarError && camera.error.status === 404
  if (camera.data && !isGone) return <CameraView key={id} of={camera.data} />
  return (
    <Page title={cameras.title}>
      {camera.error ? <Failure error={camera.error} onAgain={() => camera.refetch()} /> : <p>{loading}</p>}
    </Page>
  )
}

function CameraView({ of }: { readonly of: AnyCamera }) {
  const { kind, camera } = of
  const { camera: texts, cameras } = useTexts()
  const nowMs = useNow(1_000)
  const zone = useMemo(() => createZone(Intl.DateTimeFormat().resolvedOptions().timeZone), [])
  const clock = useClock(zone)
  const [search, setSearch] = useSearchParams()
  const atMs = readMoment(search.get('at'))
  const isLive = atMs === undefined
  const [shownMs, setShownMs] = useState<number>()
  const [jump, setJump] = useState(0)
  const [isPaused, setPaused] = useState(false)
  const [isMuted, setMuted] = useState(true)
  const [rate, setRate] = useState(1)
  const [view, setView] = useState<View>(() => viewOfDay(atMs ?? Date.now(), zone))
  const [failure, setFailure] = useState<unknown>()
  const frame = useRef<HTMLDivElement>(null)
  const recording = useRecording(kind, camera.id, camera.has_recording)
  const footage = useFootage(kind, camera.id, view, camera.has_recording)
  const cursorMs = isLive ? nowMs : (shownMs ?? atMs)

  const play = useCallback(
    (ms: number) => {
      setFailure(undefined)
      setShownMs(undefined)
      setJump((before) => before + 1)
      setPaused(false)
      setView((before) => follow(before, ms))
      setSearch({ at: writeTime(Math.floor(ms / 1000) * 1000) }, { replace: true })
    },
    [setSearch],
  )
  const goLive = () => {
    setFailure(undefined)
    setRate(1)
    setSearch({}, { replace: true })
    setView((before) => follow(before, Date.now()))
  }
  const label = isLive ? texts.livePicture(camera.name) : texts.recordedPicture(camera.name, clock.dateTime(cursorMs))
  return (
    <Page
      title={camera.name}
      actions={
        kind === 'own' && (
          <>
            <Link className="action action-quiet" href={`/cameras/${camera.id}/guests`}>
              {texts.guests}
            </Link>
            <Link className="action action-quiet" href={`/cameras/${camera.id}/settings`}>
              {texts.settings}
            </Link>
          </>
        )
      }
    >
      <div className="stage" ref={frame}>
        <div className="stage-picture">
          {isLive ? (
            <LivePlayer of={of} isMuted={isMuted} label={label} />
          ) : (
            <RecordedPlayer
              kind={kind}
              cameraId={camera.id}
              atMs={atMs}
              jump={jump}
              isPaused={isPaused}
              isMuted={isMuted}
              rate={rate}
              label={label}
              onTime={(ms) => {
                setShownMs(ms)
                setView((before) => follow(before, ms))
              }}
              onFailure={setFailure}
            />
          )}
        </div>
        <div className="controls">
          {isLive ? (
            <span className={`status status-${camera.status}`}>
              {camera.status === 'online' ? texts.live : cameras.status[camera.status]}
            </span>
          ) : (
            <>
              <Button look="quiet" onClick={() => play(cursorMs - jumpMs)}>
                {texts.back}
              </Button>
              <Button look="quiet" onClick={() => setPaused(!isPaused)}>
                {isPaused ? texts.play : texts.pause}
              </Button>
              <Button look="quiet" onClick={() => play(Math.min(nowMs, cursorMs + jumpMs))}>
                {texts.forward}
              </Button>
              <label className="rate">
                {texts.speed}
                <select value={rate} onChange={(event) => setRate(Number(event.currentTarget.value))}>
                  {rates.map((each) => (
                    <option key={each} value={each}>
                      {each}×
                    </option>
                  ))}
                </select>
              </label>
              <Button onClick={goLive}>{texts.toLive}</Button>
            </>
          )}
          <time className="controls-time" dateTime={writeTime(cursorMs)}>
            {clock.dateTime(cursorMs)}
          </time>
          {camera.audio_enabled && (
            <Button look="quiet" aria-pressed={!isMuted} onClick={() => setMuted(!isMuted)}>
              {isMuted ? texts.soundOn : texts.soundOff}
            </Button>
          )}
          <Button look="quiet" onClick={() => toggleFullScreen(frame.current)}>
            {texts.fullScreen}
          </Button>
        </div>
      </div>
      {camera.status === 'offline' && isLive && (
        <Notice kind="bad">
          <p>{kind === 'own' && camera.status_reason !== null ? camera.status_reason : texts.offline}</p>
        </Notice>
      )}
      {failure !== undefined && <PlayFailure failure={failure} />}
      {camera.has_recording ? (
        <section aria-label={texts.recordings} className="recordings">
          <Timeline
            view={view}
            onView={setView}
            zone={zone}
            footage={footage}
            nowMs={nowMs}
            cursorMs={cursorMs}
            onPick={play}
            preview={(ms) => <MomentPicture kind={kind} cameraId={camera.id} atMs={ms} width={160} />}
          />
          <div className="controls">
            <Button look="quiet" onClick={() => setView(zoom(view, 0.5, cursorMs))}>
              {texts.zoomIn}
            </Button>
            <Button look="quiet" onClick={() => setView(zoom(view, 2, cursorMs))}>
              {texts.zoomOut}
            </Button>
            <Button look="quiet" onClick={() => setView(viewOfDay(view.startMs - 1, zone))}>
              {texts.dayBefore}
            </Button>
            <Button look="quiet" onClick={() => setView(viewOfDay(nowMs, zone))}>
              {texts.today}
            </Button>
          </div>
          {recording.data?.status === 'ERROR' && (
            <Notice kind="bad">
              <p>{texts.recordingFails(recording.data.status_reason ?? '')}</p>
            </Notice>
          )}
        </section>
      ) : (
        <Notice kind="hint">
          <p>{kind === 'own' ? texts.notRecorded : texts.noRecordings}</p>
        </Notice>
      )}
      <p>
        <Link href="/">{texts.allCameras}</Link>
      </p>
    </Page>
  )
}

function PlayFailure({ failure }: { readonly failure: unknown }) {
  const { camera: texts } = useTexts()
  if (failure !== 'nothing' && failure !== 'unplayable') return <Failure error={failure} />
  return (
    <Notice kind="bad">
      <p>{failure === 'nothing' ? texts.nothingThere : texts.unplayable}</p>
    </Notice>
  )
}

function readMoment(text: string | null): number | undefined {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

function toggleFullScreen(element: HTMLElement | null): void {
  if (document.fullscreenElement) void document.exitFullscreen()
  else void element?.requestFullscreen?.().catch(() => {})
}
