// nightjar check

import { systemClock } from '../base/clock.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'
import { withStore } from './open-data.ts'

export const checkCommand: Command = {
  name: 'check',
  summary: 'Compares the index of recordings with the files. Changes nothing.',
  positionals: [],
  options: {
    archive: serverOptions.archive!,
    deep: { sentence: 'Also reads every file and compares its structure and checksums.' },
  },
  async run({ config, switches }) {
    const { checkArchive, isClean } = await import('../archive/check.ts')
    const { describeCheck, writeCheck } = await import('./check-report.ts')
    return withStore(config, async (store) => {
      const report = await checkArchive({
        rows: store.segments,
        archiveDir: config.archive,
        clock: systemClock,
        isDeep: switches.has('deep'),
      })
      return { json: writeCheck(report), text: describeCheck(report, config.archive), isFailure: !isClean(report) }
    })
  },
}
