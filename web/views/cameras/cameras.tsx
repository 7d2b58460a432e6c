// All cameras at a glance: live pictures of one's own and of those others share.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { type AnyCamera, ownCamerasQuery, sharedCamerasQuery, type TileView } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { findTileSize, mostOfFew } from '../../model/tile-size.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { CameraTile } from './camera-tile.tsx'

const searchedFrom = 7
/** What stands where tiles will be, until it is known which. */
const ghosts = [1, 2, 3, 4]
/** Of the view, left and right together. */
const margins = 48

export function Cameras() {
  const { cameras: texts, loading } = useTexts()
  const client = useClient()
  /** Of the larger group: as many tiles share the width. */
  const [most, setMost] = useState(mostOfFew + 1)
  const tileView = useMemo(() => readTileView(most), [most])
  // While larger pictures are asked for, the others stay.
  const own = useQuery({ ...ownCamerasQuery(client, tileView), placeholderData: keepPreviousData })
  const shared = useQuery({ ...sharedCamerasQuery(client, tileView), placeholderData: keepPreviousData })
  const [search, setSearch] = useState('')
  const groups = [
    { title: texts.own, cameras: (own.data ?? []).map((camera): AnyCamera => ({ kind: 'own', camera })) },
    { title: texts.shared, cameras: (shared.data ?? []).map((camera): AnyCamera => ({ kind: 'shared', camera })) },
  ]
  const count = groups.reduce((sum, { cameras }) => sum + cameras.length, 0)
  const isFew = count <= mostOfFew
  const wanted = isFew ? Math.max(...groups.map(({ cameras }) => cameras.length)) : mostOfFew + 1
  if (own.data && shared.data && wanted !== most) setMost(wanted)
  const isFound = ({ camera }: AnyCamera) => camera.name.toLowerCase().includes(search.trim().toLowerCase())
  const found = groups.map((group) => ({ ...group, cameras: group.cameras.filter(isFound) }))
  const shown = found.filter(({ cameras }) => cameras.length > 0)
  const add = (
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
          <p>{texts.none}</p>
          {add}
        </Empty>
      )}
      {count >= searchedFrom && (
        <input
          type="search"
          className="search"
          aria-label={texts.search}
          placeholder={texts.search}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {count > 0 && shown.length === 0 && <p role="status">{texts.nothingFound(search.trim())}</p>}
      {shown.map(({ title, cameras }) => (
        <section key={title} aria-label={title}>
          <h2 className={shared.data.length === 0 ? 'unseen' : undefined}>{title}</h2>
          <ul className={isFew ? 'wall wall-few' : 'wall'}>
            {cameras.map((camera) => (
              <CameraTile
                key={`${camera.kind} ${camera.camera.id}`}
                of={camera}
                isWaiting={own.isPlaceholderData || shared.isPlaceholderData}
              />
            ))}
          </ul>
        </section>
      ))}
    </Page>
  )
}

/** A key frame a second is movement enough for a glance. */
function readTileView(count: number): TileView {
  const { width, height } = findTileSize(innerWidth - margins, devicePixelRatio, count)
  return { max_width: width, max_height: height, refresh_rate: 1 }
}
