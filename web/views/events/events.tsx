// Events of all cameras by day, newest first; each links to its moment.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { memo, useMemo } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Camera, CameraEvent } from '../../../sdk/index.ts'
import { ownCamerasQuery } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { cutIntoDays, listKinds } from '../../model/event-list.ts'
import { findRefreshIntervalMs } from '../../model/refresh-interval.ts'
import { createZone, momentOf, parseLocalTime, startOfDay, writeLocalTime, type Zone } from '../../model/zone.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Empty } from '../../parts/empty.tsx'
import { nameCategory, nameEvent } from '../../parts/event-names.ts'
import { Failure } from '../../parts/failure.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Page } from '../../parts/page.tsx'
import { Thumbnail } from '../../parts/thumbnail.tsx'
import { useLanguage, useTexts } from '../../texts/texts.tsx'
import './events.css'

const pageSize = 50
const intervalMs = 10_000

export function Events() {
  const { texts: all, language } = useLanguage()
  const { events: texts, loading } = all
  const client = useClient()
  const [search, setSearch] = useSearchParams()
  const cameraId = Number(search.get('camera') ?? 0) || undefined
  const zone = useMemo(() => createZone(Intl.DateTimeFormat().resolvedOptions().timeZone), [])
  const day = search.get('day') ?? ''
  const range = readDay(day, zone)
  const category = search.get('kind') ?? undefined
  const isFiltered = range !== undefined || category !== undefined
  const choose = (name: 'camera' | 'kind' | 'day', value: string) => {
    const others = [...search].filter(([key]) => key !== name)
    setSearch(value === '' ? others : [...others, [name, value]], { replace: true })
  }
  const cameras = useQuery(ownCamerasQuery(client))
  const byName = useMemo(() => {
    const { compare } = new Intl.Collator(language, { numeric: true })
    return [...(cameras.data ?? [])].sort((one, other) => compare(one.name, other.name))
  }, [cameras.data, language])
  const byId = useMemo(() => new Map((cameras.data ?? []).map((camera) => [camera.id, camera])), [cameras.data])
  const events = useInfiniteQuery({
    queryKey: ['events', cameraId, category, range],
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) => {
      const query = { ...range, ...(category !== undefined && { category }), limit: pageSize, offset }
      return cameraId === undefined
        ? client.events.list(query, { signal })
        : client.events.listOfCamera(cameraId, query, { signal })
    },
    getNextPageParam: ({ next }, _pages, offset) => (next === null ? undefined : offset + pageSize),
    // All loaded pages are refreshed.
    refetchInterval: ({ state }) => findRefreshIntervalMs(intervalMs, state.data?.pages.length ?? 0, 1),
  })
  const clock = useClock(zone)
  const shown = unique(events.data?.pages.flatMap(({ results }) => results) ?? [])
  const kinds = listKinds(
    shown.map((event) => event.category),
    category,
  )
  return (
    <Page title={texts.title}>
      <div className="filters">
        <label className="filter">
          <span>{texts.camera}</span>
          <select value={cameraId ?? ''} onChange={({ currentTarget: { value } }) => choose('camera', value)}>
            <option value="">{texts.allCameras}</option>
            {byName.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="filter">
          <span>{texts.kind}</span>
          <select value={category ?? ''} onChange={({ currentTarget: { value } }) => choose('kind', value)}>
            <option value="">{texts.allKinds}</option>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {nameCategory(kind, texts)}
              </option>
            ))}
          </select>
        </label>
        <label className="filter">
          <span>{texts.day}</span>
          <input
            type="date"
            value={range ? day : ''}
            max={writeLocalTime(zone.localTime(Date.now())).slice(0, 10)}
            onChange={({ currentTarget: { value } }) => choose('day', value)}
          />
        </label>
        {(isFiltered || cameraId !== undefined) && (
          <Button look="quiet" onClick={() => setSearch([], { replace: true })}>
            {texts.showAll}
          </Button>
        )}
      </div>
      {events.error && !events.data && <Failure error={events.error} onAgain={() => events.refetch()} />}
      {events.isLoading && <p>{loading}</p>}
      {events.data && shown.length === 0 && (
        <Empty title={isFiltered ? texts.noneFound : texts.noneTitle}>
          <p>{isFiltered ? texts.noneFoundAdvice : texts.none}</p>
        </Empty>
      )}
      {cutIntoDays(shown, zone).map(({ startMs, events }) => (
        <section key={startMs} className="day" aria-label={clock.fullDay(startMs)}>
          <h2>{clock.fullDay(startMs)}</h2>
          <ul className="panel events">
            {events.map((event) => (
              <EventRow key={event.id} event={event} camera={byId.get(event.camera)} />
            ))}
          </ul>
        </section>
      ))}
      {events.hasNextPage && (
        <Button look="quiet" isBusy={events.isFetchingNextPage} onClick={() => events.fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Page>
  )
}

type EventRowProps = { readonly event: CameraEvent; readonly camera: Camera | undefined }

/** Memoized, because there may be thousands. */
const EventRow = memo(({ event, camera }: EventRowProps) => {
  const { events: texts } = useTexts()
  const clock = useClock()
  const atMs = Date.parse(event.occurred_at)
  const detail = findDetail(event)
  return (
    <li className="event">
      <span className="event-image">
        <Icon name="snapshot" />
        {camera?.has_recording && <Thumbnail kind="own" cameraId={camera.id} atMs={atMs} width={160} />}
      </span>
      <div>
        <strong>
          <bdi>{nameEvent(event, texts)}</bdi>
        </strong>
        <p className="hint">
          <time dateTime={event.occurred_at}>{clock.time(atMs)}</time> · <bdi>{camera?.name}</bdi> ·{' '}
          {texts.sources[event.source] ?? event.source}
        </p>
        {detail !== undefined && (
          <p className="hint" lang="en">
            {detail}
          </p>
        )}
      </div>
      {camera?.has_recording && (
        <Link
          className="action action-quiet event-play"
          href={`/cameras/${event.camera}?at=${event.occurred_at}`}
          aria-label={texts.playFrom(clock.time(atMs))}
        >
          <Icon name="play" />
          <span>{texts.play}</span>
        </Link>
      )}
    </li>
  )
})

/** What the server says of its own events, in English: why, and what to do. */
function findDetail({ source, data }: CameraEvent): string | undefined {
  const { detail } = Object(data) as { readonly detail?: unknown }
  return source === 'system' && typeof detail === 'string' ? detail : undefined
}

/** The day in the URL, from midnight to midnight; undefined for all days. */
function readDay(day: string, zone: Zone): { start: string; end: string } | undefined {
  const local = parseLocalTime(`${day}T12:00`)
  if (!local) return undefined
  const noonMs = momentOf(local, zone)
  return {
    start: new Date(startOfDay(noonMs, zone)).toISOString(),
    end: new Date(startOfDay(noonMs, zone, 1)).toISOString(),
  }
}

/** New events push older ones to the next page. */
function unique(events: readonly CameraEvent[]): CameraEvent[] {
  return [...new Map(events.map((event) => [event.id, event])).values()]
}
