// Storage: space used by recordings, how long it will last, and the share of each camera.

import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Storage as StorageAnswer } from '../../../sdk/index.ts'
import { ownCamerasQuery } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { useRecordingServers, useStorage, useStorageOf } from '../../app/storage-query.ts'
import { areMeasuring, isMeasuring } from '../../model/storage-rate.ts'
import { useClock } from '../../parts/clock.ts'
import { Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Level } from '../../parts/level.tsx'
import { ListPanel } from '../../parts/list-panel.tsx'
import { useSizes } from '../../parts/sizes.ts'
import { useTexts } from '../../texts/texts.tsx'

type CameraStorage = StorageAnswer['cameras'][number]

export function Storage() {
  const { storage: texts, loading } = useTexts()
  const client = useClient()
  const storage = useStorage()
  const cameras = useQuery(ownCamerasQuery(client))
  const servers = useRecordingServers()
  const nameOf = (id: number) => cameras.data?.find((camera) => camera.id === id)?.name ?? texts.camera(id)
  if (!storage.data) {
    return storage.error ? <Failure error={storage.error} onAgain={() => storage.refetch()} /> : <p>{loading}</p>
  }
  const { server, ...own } = storage.data
  const most = Math.max(...own.cameras.map(({ used_bytes: bytes }) => bytes), own.max_bytes ?? 0)
  return (
    <>
      <div className="panel">
        <h2>{texts.title}</h2>
        {own.max_bytes !== null && <Level whole={own.max_bytes} parts={[{ size: own.used_bytes, look: 'main' }]} />}
        <Usage of={own} />
      </div>
      {servers.length === 0 && <ServerStorage title={texts.disk} of={storage.data} />}
      {servers.map((name) => (
        <NamedServer key={name} name={name} />
      ))}
      <ListPanel
        title={texts.cameras}
        list={{ data: own.cameras, error: null, refetch: storage.refetch }}
        none={texts.none}
        nameOf={({ id }) => nameOf(id)}
      >
        {(camera) => <CameraRow key={camera.id} camera={camera} name={nameOf(camera.id)} most={most} />}
      </ListPanel>
    </>
  )
}

type UsageProps = { readonly of: Omit<StorageAnswer, 'server'> }

function Usage({ of }: UsageProps) {
  const { storage: texts } = useTexts()
  const sizes = useSizes()
  const isEarly = areMeasuring(of.bytes_per_day, of.cameras, Date.now())
  return (
    <>
      <Facts
        of={[
          [texts.used, sizes(of.used_bytes)],
          [texts.limit, of.max_bytes === null ? texts.noLimit : sizes(of.max_bytes)],
          [texts.perDay, isEarly ? texts.measuring : sizes(of.bytes_per_day)],
        ]}
      />
      {of.share_bytes !== null && <p className="hint">{texts.share(sizes(of.share_bytes))}</p>}
      {!isEarly && <FullAt at={of.full_at} />}
    </>
  )
}

function FullAt({ at }: { readonly at: string | null }) {
  const { storage: texts } = useTexts()
  const clock = useClock()
  if (at === null) return <p className="hint">{texts.neverFull}</p>
  const atMs = Date.parse(at)
  return <p>{atMs <= Date.now() ? texts.full : texts.fullAt(clock.date(atMs))}</p>
}

/** For owners: one of several servers. */
function NamedServer({ name }: { readonly name: string }) {
  const { storage: texts, loading } = useTexts()
  const storage = useStorageOf(name)
  const title = texts.diskOf(name)
  if (storage.data) return <ServerStorage title={title} of={storage.data} />
  return (
    <div className="panel">
      <h2>{title}</h2>
      {storage.error ? <Failure error={storage.error} onAgain={() => storage.refetch()} /> : <p>{loading}</p>}
    </div>
  )
}

type ServerStorageProps = { readonly title: string; readonly of: StorageAnswer }

/** For owners: the disks, and the recordings of all users together. */
function ServerStorage({ title, of: { server, cameras } }: ServerStorageProps) {
  const { storage: texts } = useTexts()
  if (!server) return undefined
  return (
    <>
      <Disk title={title} server={server} isEarly={areMeasuring(server.bytes_per_day, cameras, Date.now())} />
      {server.places.length > 1 && (
        <ListPanel
          title={texts.places}
          list={{ data: server.places, error: null, refetch: () => {} }}
          none=""
          nameOf={({ folder }) => folder}
        >
          {(place) => <PlaceRow key={place.id} place={place} />}
        </ListPanel>
      )}
    </>
  )
}

type DiskProps = {
  readonly title: string
  readonly server: NonNullable<StorageAnswer['server']>
  readonly isEarly: boolean
}

function Disk({ title, server, isEarly }: DiskProps) {
  const { storage: texts } = useTexts()
  const sizes = useSizes()
  const { disk_bytes: whole, disk_free_bytes: free, min_free_bytes: kept, used_bytes: used } = server
  return (
    <div className="panel">
      <h2>{title}</h2>
      {whole !== null && free !== null && (
        <>
          <Level
            whole={whole}
            parts={[
              { size: used, look: 'main' },
              { size: Math.max(0, whole - free - used), look: 'other' },
            ]}
          />
          <Facts
            of={[
              [texts.recordings, sizes(used)],
              [texts.other, sizes(Math.max(0, whole - free - used))],
              [texts.free, kept === null ? sizes(free) : texts.freeOf(sizes(free), sizes(kept))],
              [texts.size, sizes(whole)],
            ]}
          />
        </>
      )}
      {whole === null && <p className="error">{texts.diskSilent}</p>}
      {server.clock_doubt && <Doubt of={server.clock_doubt} />}
      {server.repair && <Repair of={server.repair} />}
      {!isEarly && <FullAt at={server.full_at} />}
      <p className="hint">{texts.shareOfOthers}</p>
    </div>
  )
}

type DoubtProps = { readonly of: NonNullable<NonNullable<StorageAnswer['server']>['clock_doubt']> }

/** Recordings that look too old only because the server's clock may be wrong. */
function Doubt({ of: { ahead_seconds: ahead, remaining_seconds: remaining } }: DoubtProps) {
  const { storage: texts, recordingFields } = useTexts()
  const write = (seconds: number) => {
    const hours = seconds / 3600
    return hours < 48
      ? recordingFields.hours(Math.max(1, Math.round(hours)))
      : recordingFields.days(Math.round(hours / 24))
  }
  return (
    <p className="error" role="status">
      {texts.clockDoubted(write(ahead), write(remaining))}
    </p>
  )
}

type RepairProps = { readonly of: NonNullable<NonNullable<StorageAnswer['server']>['repair']> }

/** Progress of repairing files that a crash left open. */
function Repair({ of: { pending_files: pending, repaired_files: done, failed_files: failed } }: RepairProps) {
  const { storage: texts } = useTexts()
  return (
    <div className="repair" role="status">
      {pending > 0 && (
        <>
          <p>{texts.repairing(pending)}</p>
          <Level whole={pending + done + failed} parts={[{ size: done, look: 'main' }]} />
        </>
      )}
      {failed > 0 && <p className="error">{texts.repairFails(failed)}</p>}
    </div>
  )
}

type PlaceRowProps = { readonly place: NonNullable<StorageAnswer['server']>['places'][number] }

/** A folder of recordings, usually on a disk of its own. */
function PlaceRow({ place }: PlaceRowProps) {
  const { storage: texts } = useTexts()
  const sizes = useSizes()
  const clock = useClock()
  const { disk_bytes: whole, disk_free_bytes: free, used_bytes: used, full_at: fullAt } = place
  return (
    <li className="row">
      <div>
        <p className="row-head">
          <bdi>{place.folder}</bdi>
          <span>{sizes(used)}</span>
        </p>
        {whole !== null && free !== null && (
          <Level
            whole={whole}
            parts={[
              { size: used, look: 'main' },
              { size: Math.max(0, whole - free - used), look: 'other' },
            ]}
          />
        )}
        <p className="hint">
          {[
            free !== null && whole !== null && texts.freeOfAll(sizes(free), sizes(whole)),
            place.is_draining && texts.draining,
            fullAt !== null && texts.placeFull(clock.date(Date.parse(fullAt))),
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {place.state !== 'ready' && (
          <p className="error">
            {texts.placeStates[place.state]} {place.state_detail}
          </p>
        )}
      </div>
    </li>
  )
}

type CameraRowProps = { readonly camera: CameraStorage; readonly name: string; readonly most: number }

function CameraRow({ camera, name, most }: CameraRowProps) {
  const { storage: texts, recordingFields } = useTexts()
  const sizes = useSizes()
  const { forecast_days: days, retention_days: wanted, max_bytes: limit } = camera
  const write = (days: number) =>
    days < 1 ? recordingFields.hours(Math.round(days * 24)) : recordingFields.days(Math.floor(days))
  const isShort = days !== null && wanted !== null && days < wanted * 0.99
  return (
    <li className="row">
      <div>
        <p className="row-head">
          <Link href={`/cameras/${camera.id}/settings`}>
            <bdi>{name}</bdi>
          </Link>
          <span>{sizes(camera.used_bytes)}</span>
        </p>
        <Level whole={Math.max(1, most)} parts={[{ size: camera.used_bytes, look: 'main' }]} />
        <p className="hint">
          {[
            isMeasuring(camera, Date.now())
              ? texts.measuring
              : camera.bytes_per_day > 0 && texts.grows(sizes(camera.bytes_per_day)),
            wanted !== null && texts.kept(write(wanted)),
            limit !== null && texts.atMost(sizes(limit)),
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {isShort && <p className="error">{texts.reaches(write(days))}</p>}
      </div>
    </li>
  )
}
