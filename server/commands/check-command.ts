// nightjar check

import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { createLogger } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/store.ts'
import { type Command, type CommandResult, UsageError } from './command.ts'
import { serverOptions } from './help.ts'
import { openPlaces, withStoppedServer, withStore } from './open-data.ts'

export const checkCommand: Command = {
  name: 'check',
  summary: 'Compare the index of recordings with the files. Nothing is changed unless you ask for repairs.',
  positionals: [],
  options: {
    archive: serverOptions.archive!,
    'node-name': serverOptions['node-name']!,
    deep: { description: 'Also read every file and verify its structure and checksums.' },
    fix: {
      description:
        'Repair what the check finds. The server must be stopped. Unusable files are moved to set-aside, not deleted.',
    },
    'forget-missing': {
      description: 'With --fix: treat missing recordings as permanently lost, even if that is most of them.',
    },
    'adopt-older': {
      description:
        'With --fix: also add recordings that are older than their camera, after the database was lost. First create the cameras with their old ids (camera add --id).',
    },
  },
  async run({ config, switches }) {
    const isDeep = switches.has('deep')
    const forgetsMissing = switches.has('forget-missing')
    if (forgetsMissing && !switches.has('fix')) throw new UsageError('--forget-missing requires --fix', checkCommand)
    const adoptsOlder = switches.has('adopt-older')
    if (adoptsOlder && !switches.has('fix')) throw new UsageError('--adopt-older requires --fix', checkCommand)
    if (!switches.has('fix')) return withStore(config, (store) => check(config, store, isDeep))
    return await withStoppedServer(config, (store) => fix(config, store, { isDeep, forgetsMissing, adoptsOlder }))
  },
}

async function check(config: Config, store: Store, isDeep: boolean): Promise<CommandResult> {
  const { checkArchive, isClean } = await import('../archive/check.ts')
  const { describeCheck, writeCheck } = await import('./check-report.ts')
  const { places, others } = await openPlaces(config, store)
  const report = await checkArchive({ rows: store.segments, places, clock: systemClock, isDeep })
  return { json: writeCheck(report, others), text: describeCheck(report, others), isFailure: !isClean(report) }
}

/** Reports what was repaired, and the result of a second check. */
async function fix(
  config: Config,
  store: Store,
  how: { readonly isDeep: boolean; readonly forgetsMissing: boolean; readonly adoptsOlder: boolean },
): Promise<CommandResult> {
  const { fixArchive } = await import('../archive/fix.ts')
  const { lockFile } = await import('../store/engine/file-lock.ts')
  using lock = lockFile(join(config.data, 'move.lock'))
  if (!lock) throw new AppError('conflict', 'recordings are being moved by another command')
  const { describeFixes } = await import('./check-report.ts')
  const fixes = await fixArchive({
    rows: store.segments,
    places: (await openPlaces(config, store)).places,
    clock: systemClock,
    log: createLogger('warn'),
    cameras: await store.cameras.list(),
    say: (text) => console.error(text),
    ...how,
  })
  const after = await check(config, store, how.isDeep)
  const text = [...describeFixes(fixes), after.text].join('\n')
  return { ...after, json: { ...after.json, fixes }, text }
}
