// /v1/server/: state of the server, for its owners. An extension.

import type { ServerState } from '../../../contract/server.ts'
import { AppError } from '../../base/error.ts'
import { writeTime } from '../../model/time.ts'
import type { ListedNode } from '../../store/server/placements.ts'
import type { Store } from '../../store/store.ts'
import { writeIsolation } from '../answers/isolation.ts'
import type { Handlers } from '../call.ts'
import type { PeerDeps, ServerReport } from '../deps.ts'
import { checkOwner } from '../owner.ts'

export type ServerHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'settings' | 'recordings' | 'cameras'>
  readonly report: () => ServerReport
  readonly sendTestMail: (to: string) => Promise<void>
  readonly identity: { readonly authority?: unknown } | undefined
  readonly peers?: Pick<PeerDeps, 'list'> | undefined
}

export function createServerHandlers({
  store,
  report,
  sendTestMail,
  identity,
  peers,
}: ServerHandlersOptions): Pick<Handlers, 'getServer' | 'sendTestMail'> {
  return {
    async sendTestMail({ caller }) {
      await checkOwner(store, caller)
      const { email: to } = await store.users.get(caller.userId)
      try {
        await sendTestMail(to)
        return { to, sent: true, problem: null }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return { to, sent: false, problem: error.message }
      }
    },

    async getServer({ caller }) {
      await checkOwner(store, caller)
      const { version, startedAtMs, database, mail, mailsWaiting, mailProblem, workers, isolation } = report()
      const wanted = (await store.recordings.list()).filter(({ deactivatedAtMs }) => deactivatedAtMs === null)
      const inStatus = (name: string) => wanted.filter(({ status }) => status === name).length
      return {
        version,
        started_at: writeTime(startedAtMs),
        database,
        mail,
        mails_waiting: mailsWaiting,
        mail_problem: mailProblem ?? null,
        has_own_authority: identity?.authority !== undefined,
        cameras: writeCameras(await store.cameras.countByStatus()),
        recordings: { count: wanted.length, recording: inStatus('RECORDING'), failing: inStatus('ERROR') },
        workers,
        servers: ((await peers?.list()) ?? []).map(writeServer),
        decoder_isolation: writeIsolation(isolation),
      }
    },
  }
}

function writeServer(node: ListedNode) {
  const { name, isAlive, hasCameras, cameras, camerasBy, isDraining, labels, address } = node
  const { version, startedMs, expiresMs } = node
  return {
    name,
    answers: isAlive,
    has_cameras: hasCameras,
    cameras: isAlive ? cameras : 0,
    cameras_by: camerasBy,
    is_draining: isDraining,
    labels: [...labels],
    peer_address: address,
    version,
    started_at: writeTime(startedMs),
    reported_until: writeTime(expiresMs),
  }
}

function writeCameras(groups: Awaited<ReturnType<Store['cameras']['countByStatus']>>): ServerState['cameras'] {
  const sum = (some: typeof groups) => some.reduce((total, { count }) => total + count, 0)
  const inStatus = (name: string) => groups.filter(({ status }) => status === name)
  return {
    count: sum(groups),
    online: sum(inStatus('online')),
    offline: sum(inStatus('offline')),
    unknown: sum(inStatus('unknown')),
    offline_reasons: inStatus('offline')
      .map(({ reason, count }) => ({ reason: reason ?? '', count }))
      .sort((a, b) => b.count - a.count),
  }
}
