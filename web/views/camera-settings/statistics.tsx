// Statistics of a camera's stream.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Camera, CameraStatistics } from '../../../sdk/index.ts'
import { camerasKey } from '../../app/camera-queries.ts'
import { useClient } from '../../app/clients.tsx'
import { Check } from '../../parts/check.tsx'
import { useClock } from '../../parts/clock.ts'
import { Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useLanguage } from '../../texts/texts.tsx'

/** The server measures at the same interval. */
const intervalMs = 5_000

export function Statistics({ camera }: { readonly camera: Camera }) {
  const { texts } = useLanguage()
  const client = useClient()
  const statistics = useQuery({
    queryKey: [...camerasKey, 'own', camera.id, 'statistics'],
    queryFn: ({ signal }) => client.cameras.getStatistics(camera.id, { signal }),
    refetchInterval: intervalMs,
  })
  return (
    <div className="panel">
      <h2>{texts.statistics.title}</h2>
      {statistics.data && <Figures of={statistics.data} />}
      {!statistics.data && statistics.error && (
        <Failure error={statistics.error} onAgain={() => statistics.refetch()} />
      )}
      {!statistics.data && !statistics.error && <p>{texts.loading}</p>}
      {camera.type !== 'mjpeg' && <DamagedFrames camera={camera} />}
    </div>
  )
}

/** Saved immediately. */
function DamagedFrames({ camera }: { readonly camera: Camera }) {
  const { texts } = useLanguage()
  const client = useClient()
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: (isKept: boolean) => client.cameras.update(camera.id, { keeps_damaged_pictures: isKept }),
    onSettled: () => queries.invalidateQueries({ queryKey: camerasKey }),
  })
  return (
    <div className="field">
      <Check
        label={texts.statistics.keepDamaged}
        checked={save.isPending ? save.variables : camera.keeps_damaged_pictures}
        disabled={save.isPending}
        onChange={(isKept) => save.mutate(isKept)}
      />
      <p className="hint">{texts.statistics.damagedHint}</p>
      {save.error && <Failure error={save.error} />}
    </div>
  )
}

function Figures({ of }: { readonly of: CameraStatistics }) {
  const { texts, language } = useLanguage()
  const clock = useClock()
  const { statistics: labels } = texts
  if (of.since === null) return <p>{labels.nothing}</p>
  const write = (value: number, options?: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(language, { maximumFractionDigits: 2, ...options }).format(value)
  const sinceMs = Date.parse(of.since)
  const lost = (count: number, percent: number | null): ReactNode =>
    percent === null ? (
      write(count)
    ) : (
      <>
        {write(percent / 100, { style: 'percent' })}
        <span className="hint">{labels.inTotal(write(count))}</span>
      </>
    )
  const facts: [string, ReactNode][] = [
    [labels.bitRate, of.bit_rate === null ? labels.none : `${write(of.bit_rate / 1e6)} Mbit/s`],
    [
      labels.frameRate,
      of.frame_rate === null ? labels.none : labels.perSecond(write(of.frame_rate, { maximumFractionDigits: 1 })),
    ],
  ]
  // Only RTP has packets that can be lost.
  if (of.packets > 0) facts.push([labels.lostPackets, lost(of.lost_packets, of.packet_loss_percent)])
  const frozen = (
    <>
      {write(of.freezes)}
      <span className="hint">{labels.inTotal(`${write(of.frozen_seconds, { maximumFractionDigits: 1 })} s`)}</span>
    </>
  )
  facts.push(
    [labels.lostFrames, lost(of.lost_pictures, of.picture_loss_percent)],
    [labels.freezes, of.freezes === 0 ? write(0) : frozen],
  )
  if (of.deviations.length > 0) {
    facts.push([labels.deviations, of.deviations.map((name) => labels.deviationNames[name] ?? name).join('; ')])
  }
  return (
    <>
      <Facts of={facts} />
      <p className="hint">{labels.since(`${clock.date(sinceMs)}, ${clock.minutes(sinceMs)}`)}</p>
    </>
  )
}
