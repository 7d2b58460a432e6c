// State of the server, for its owners.

import { useMutation, useQuery } from '@tanstack/react-query'
import type { ServerState } from '../../../sdk/index.ts'
import { useClient } from '../../app/clients.tsx'
import { serverQuery } from '../../app/server-query.ts'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import { Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import { pagePath } from '../../parts/page-path.ts'
import { useLanguage, useTexts } from '../../texts/texts.tsx'

const intervalMs = 5_000

export function Server() {
  const { loading } = useTexts()
  const client = useClient()
  const server = useQuery({ ...serverQuery(client), refetchInterval: intervalMs })
  if (server.data) return <State of={server.data} />
  return server.error ? <Failure error={server.error} onAgain={() => server.refetch()} /> : <p>{loading}</p>
}

function State({ of }: { readonly of: ServerState }) {
  const { server: texts, cameras: labels, timeline } = useTexts()
  const { language } = useLanguage()
  const clock = useClock()
  const { cameras, recordings, workers } = of
  const startedMs = Date.parse(of.started_at)
  const areRunning = workers.running === workers.count && of.servers.every(({ answers }) => answers)
  const isWell = cameras.offline === 0 && recordings.failing === 0 && areRunning
  return (
    <>
      <div className="panel">
        <h2>{texts.cameras}</h2>
        <p className={`status status-${isWell ? 'online' : 'offline'}`} role="status">
          {isWell ? texts.well : texts.unwell}
        </p>
        <Facts
          of={[
            [labels.status.online, texts.of(cameras.online, cameras.count)],
            [labels.status.offline, cameras.offline],
            [labels.status.unknown, cameras.unknown],
            [texts.recording, texts.of(recordings.recording, recordings.count)],
            [texts.failing, recordings.failing],
          ]}
        />
        {cameras.offline_reasons.length > 0 && (
          <ul className="hint reasons">
            {cameras.offline_reasons.map(({ reason, count }) => (
              <li key={reason}>{texts.offline(count, timeline.reasons[reason] ?? timeline.reasons.unknown!)}</li>
            ))}
          </ul>
        )}
      </div>
      <div className="panel">
        <h2>{texts.title}</h2>
        <Facts
          of={[
            [texts.version, of.version],
            [texts.since, `${clock.date(startedMs)}, ${clock.minutes(startedMs)}`],
            [texts.workers, texts.of(workers.running, workers.count)],
            [texts.restarts, workers.restarts],
            [texts.database, texts.databases[of.database]],
            [texts.mail, texts.mails[of.mail]],
          ]}
        />
        <Mail of={of} />
        <div className="form-end">
          {of.has_own_authority && (
            <a className="action action-quiet" href={pagePath('/certificate/', language)}>
              {texts.certificate}
            </a>
          )}
          <a className="action action-quiet" href={pagePath('/docs/', language)}>
            {texts.interface}
          </a>
        </div>
      </div>
      {of.servers.length > 1 && <Servers of={of.servers} />}
      <Isolation of={of.decoder_isolation} />
    </>
  )
}

/** Those of the database. */
function Servers({ of }: { readonly of: ServerState['servers'] }) {
  const { server: texts } = useTexts()
  const clock = useClock()
  const explain = (by: (typeof of)[number]['cameras_by']) => {
    const reasons = (['name', 'label', 'spread', 'moving'] as const).filter((reason) => by[reason] > 0)
    if (reasons.every((reason) => reason === 'spread')) return ''
    return ` (${reasons.map((reason) => texts.camerasBy[reason](by[reason])).join(', ')})`
  }
  const describe = ({
    answers,
    has_cameras,
    cameras,
    cameras_by,
    is_draining,
    labels,
    ...rest
  }: (typeof of)[number]) => {
    const { version, reported_until } = rest
    const untilMs = Date.parse(reported_until)
    if (!answers) return texts.gone(`${clock.date(untilMs)}, ${clock.minutes(untilMs)}`)
    const work = has_cameras ? `${texts.hasCameras(cameras)}${explain(cameras_by)}` : texts.answers
    return [work, ...(is_draining ? [texts.draining] : []), ...labels, version].join(', ')
  }
  return (
    <div className="panel">
      <h2>{texts.servers}</h2>
      <Facts of={of.map((server) => [server.name, describe(server)] as const)} />
    </div>
  )
}

/** Says what keeps emails from being sent, and sends one to try. */
function Mail({ of }: { readonly of: ServerState }) {
  const { server: texts } = useTexts()
  const client = useClient()
  const test = useMutation({ mutationFn: () => client.server.sendTestMail() })
  if (of.mail === 'folder') return <p className="hint">{texts.noMail}</p>
  const problem = test.data ? test.data.problem : of.mail_problem
  return (
    <>
      {problem !== null && (
        <p className="status status-offline" role="alert">
          {texts.mailProblem(of.mails_waiting)} <span lang="en">{problem}</span>
        </p>
      )}
      {test.data?.sent && <p role="status">{texts.mailSent(test.data.to)}</p>}
      {test.error && <Failure error={test.error} />}
      <div className="form-end">
        <Button look="quiet" isBusy={test.isPending} onClick={() => test.mutate()}>
          {texts.testMail}
        </Button>
      </div>
    </>
  )
}

function Isolation({ of }: { readonly of: ServerState['decoder_isolation'] }) {
  const { server: texts } = useTexts()
  const { level, in_force, missing, reason, advice } = of
  const rows = (names: typeof in_force, has: string) => names.map((name) => [texts.protections[name], has] as const)
  return (
    <div className="panel">
      <h2>{texts.isolation}</h2>
      <p className={`status status-${level === 'full' ? 'online' : 'offline'}`}>{texts.isolationLevels[level]}</p>
      <p className="hint">{texts.isolationHint}</p>
      <Facts of={[...rows(in_force, texts.yes), ...rows(missing, texts.no)]} />
      {reason !== null && <p className="hint">{reason}</p>}
      {advice !== null && <p className="hint">{texts.toGetMore(advice)}</p>}
    </div>
  )
}
