// The wall: live images of all owned and shared cameras.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { Camera, SharedCamera } from '../../../sdk/index.ts'
import { type AnyCamera, ownCamerasQuery, sharedCamerasQuery, type TileView } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useMe } from '../../app/me-query.ts'
import { findTileSize, mostOfFew, mostOfMany } from '../../model/tile-size.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { hasFewConnections, streamsOfFew } from '../../parts/live-tile.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { useSearch } from '../../parts/search.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { CameraTile } from './camera-tile.tsx'

/** Placeholders until the list of cameras is known. */
const ghosts = [1, 2, 3, 4]
/** Key in the browser's storage. */
const mostKey = 'most-tiles'
/** Left and right margins of the view together. */
const margins = 48

export function Cameras() {
  const { cameras: texts, loading } = useTexts()
  const client = useClient()
  /** Number of tiles in the larger group. Most users have as many as last time. */
  const [most, setMost] = useState(() => Number(localStorage.getItem(mostKey)) || mostOfFew + 1)
  useEffect(() => localStorage.setItem(mostKey, String(most)), [most])
  const tileView = useMemo(() => readTileView(most), [most])
  // While larger images load, keep the others.
  const own = useQuery({ ...ownCamerasQuery(client, tileView), placeholderData: keepPreviousData })
  const shared = useQuery({ ...sharedCamerasQuery(client, tileView), placeholderData: keepPreviousData })
  const all = useMemo(() => joinLists(own.data ?? [], shared.data ?? []), [own.data, shared.data])
  const { found, field } = useSearch(all, ({ camera }) => camera.name)
  const count = all.length
  const isLimited = count > streamsOfFew && hasFewConnections()
  const isFew = count <= mostOfFew
  const isCrowd = count > mostOfMany
  const wanted = isFew
    ? Math.max(own.data?.length ?? 0, shared.data?.length ?? 0)
    : (isCrowd ? mostOfMany : mostOfFew) + 1
  if (own.data && shared.data && wanted !== most) setMost(wanted)
  const shown = (['own', 'shared'] as const)
    .map((kind) => ({ title: texts[kind], cameras: found.filter((camera) => camera.kind === kind) }))
    .filter(({ cameras }) => cameras.length > 0)
  const me = useMe()
  const add = me.data?.available_features.connect_camera === true && (
    <Link className="action action-main" href="/add">
      {texts.add}
    </Link>
  )
  const failed = [own, shared].find(({ error, data }) => error !== null && data === undefined)
  if (failed) {
    return (
      <Page title={texts.title} isWide>
        <Failure error={failed.error} onAgain={() => failed.refetch()} />
      </Page>
    )
  }
  if (own.data === undefined || shared.data === undefined) {
    return (
      <Page title={texts.title} isWide>
        <p className="unseen">{loading}</p>
        <div className="wall" aria-hidden="true">
          {ghosts.map((each) => (
            <div key={each} className="ghost" />
          ))}
        </div>
      </Page>
    )
  }
  return (
    <Page title={texts.title} isWide actions={count > 0 && add}>
      {count === 0 && (
        <Empty title={texts.noneTitle}>
          <p>{add ? texts.none : texts.noneShared}</p>
          {add}
        </Empty>
      )}
      {field}
      {isLimited && (
        <Notice kind="hint">
          <p>{texts.fewConnections(streamsOfFew)}</p>
        </Notice>
      )}
      {shown.map(({ title, cameras }) => (
        <section key={title} aria-label={title}>
          <h2 className={shared.data.length === 0 ? 'unseen' : undefined}>{title}</h2>
          <ul className={isFew ? 'wall wall-few' : isCrowd ? 'wall wall-crowd' : 'wall'}>
            {cameras.map((camera) => (
              <CameraTile
                key={`${camera.kind} ${camera.camera.id}`}
                of={camera}
                isWaiting={own.isPlaceholderData || shared.isPlaceholderData}
                isStreamed={!isLimited || found.indexOf(camera) < streamsOfFew}
              />
            ))}
          </ul>
        </section>
      ))}
    </Page>
  )
}

function joinLists(own: readonly Camera[], shared: readonly SharedCamera[]): AnyCamera[] {
  return [
    ...own.map((camera): AnyCamera => ({ kind: 'own', camera })),
    ...shared.map((camera): AnyCamera => ({ kind: 'shared', camera })),
  ]
}

/** One key frame per second is enough for an overview. */
function readTileView(count: number): TileView {
  const { width, height } = findTileSize(innerWidth - margins, devicePixelRatio, count)
  return { max_width: width, max_height: height, refresh_rate: 1 }
}
