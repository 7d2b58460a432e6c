// nightjar storage, nightjar retention

import { systemClock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import type { Config } from '../config.ts'
import { TrustedTime } from '../model/trusted-time.ts'
import type { Store } from '../store/store.ts'
import type { Command, CommandResult } from './command.ts'
import { serverOptions } from './help.ts'
import { openPlaces, withStoppedServer, withStore } from './open-data.ts'

const spaceOptions = {
  archive: serverOptions.archive!,
  'archive-max': serverOptions['archive-max']!,
  'min-free': serverOptions['min-free']!,
  'node-name': serverOptions['node-name']!,
}

const storageCommand: Command = {
  name: 'storage',
  summary: 'Show storage usage and a forecast: how far back recordings will reach, and when the space will be full.',
  positionals: [],
  options: spaceOptions,
  run: ({ config }) =>
    withStore(config, async (store) => {
      const { StorageMeter } = await import('../archive/storage-meter.ts')
      const { describeStorage, writeStorageReport } = await import('./storage-report.ts')
      const report = await new StorageMeter(await openSpace(config, store)).read()
      const cameras = new Map((await store.cameras.list()).map(({ id, name }) => [id, name]))
      const users = new Map((await store.users.list()).map(({ id, email }) => [id, email]))
      return { json: writeStorageReport(report), text: describeStorage(report, { cameras, users }) }
    }),
}

const retentionCommand: Command = {
  name: 'retention',
  summary:
    'Delete expired recordings, or only list them. A running server does this by itself every ten seconds. The command uses the clock of this machine and makes the server trust it.',
  positionals: [],
  options: { ...spaceOptions, 'dry-run': { description: 'Delete nothing, only print what would be deleted.' } },
  async run({ config, switches }) {
    if (switches.has('dry-run')) return withStore(config, (store) => showPlan(config, store))
    return withStoppedServer(config, (store) => applyLimits(config, store))
  },
}

export const storageCommands: readonly Command[] = [storageCommand, retentionCommand]

async function showPlan(config: Config, store: Store): Promise<CommandResult> {
  const { describePlan, summarizePlan, writePlan } = await import('./retention-report.ts')
  const { describeDoubt, writeDoubt } = await import('./storage-report.ts')
  const retention = await openRetention(config, store)
  const summary = await summarizePlan(await retention.plan())
  const doubt = await readDoubt(store)
  const text = [describePlan(summary), ...describeDoubt(doubt)].join('\n')
  return { json: { dry_run: true, ...writePlan(summary), clock_doubt: writeDoubt(doubt) }, text }
}

async function applyLimits(config: Config, store: Store): Promise<CommandResult> {
  const { describeReport } = await import('./retention-report.ts')
  const retention = await openRetention(config, store)
  const report = await retention.pass(new AbortController().signal)
  // An operator who deletes by the machine's clock is assumed to have checked it.
  await store.trustedTimes.write({ timeMs: systemClock.nowMs(), doubtedMs: 0, leastMs: 0 })
  return { json: { dry_run: false, ...report }, text: describeReport(report) }
}

async function openRetention(config: Config, store: Store) {
  const { Retention } = await import('../archive/retention.ts')
  return new Retention({ ...(await openSpace(config, store)), recordedBytes: () => 0 })
}

export async function openSpace(config: Config, store: Store) {
  const { loadRetentionLimits } = await import('../archive/load-limits.ts')
  const { measureOpenFiles } = await import('../archive/open-files.ts')
  const { places, others } = await openPlaces(config, store)
  const openFootage = await measureOpenFiles(store.segments, places)
  const doubt = await readDoubt(store)
  return {
    rows: store.segments,
    places,
    others,
    clock: systemClock,
    log: createLogger('error'),
    loadLimits: () => loadRetentionLimits(store, config.archiveMax),
    openFootage: () => openFootage,
    minFreeBytes: config.minFree,
    doubt: () => doubt,
  }
}

/** How the server judges the clock, or judged it in its last minute. */
async function readDoubt(store: Store) {
  const { findDoubt } = await import('../archive/deletion-clock.ts')
  return findDoubt(new TrustedTime(systemClock.nowMs(), await store.trustedTimes.find()))
}
