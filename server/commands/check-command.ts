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
    deep: { sentence: 'Also reads the structure of every file.' },
  },
  async run({ config, switches }) {
    const { checkArchive, isClean } = await import('../archive/check.ts')
    return withStore(config, async (store) => {
      const report = await checkArchive({
        rows: store.segments,
        archiveDir: config.archive,
        clock: systemClock,
        isDeep: switches.has('deep'),
      })
      const isFine = isClean(report)
      const faults = [
        ...report.missingFiles.map((path) => `missing file: ${path}`),
        ...report.orphanFiles.map((path) => `file without an entry in the index: ${path}`),
        ...report.sizeMismatches.map(
          ({ path, indexBytes, fileBytes }) => `${path}: ${fileBytes} bytes, index says ${indexBytes}`,
        ),
        ...report.damagedFiles.map(({ path, detail }) => `damaged file: ${path}: ${detail}`),
      ]
      const verdict = isFine ? 'The index and the files agree.' : `${faults.length} faults.`
      const counts = `${report.segments} segments, ${report.files} files, ${report.bytes} bytes. ${verdict}`
      const json = {
        ok: isFine,
        segments: report.segments,
        files: report.files,
        bytes: report.bytes,
        missing_files: report.missingFiles,
        orphan_files: report.orphanFiles,
        size_mismatches: report.sizeMismatches.map(({ path, indexBytes, fileBytes }) => ({
          path,
          index_bytes: indexBytes,
          file_bytes: fileBytes,
        })),
        damaged_files: report.damagedFiles,
      }
      return { json, text: [...faults, counts].join('\n'), isFailure: !isFine }
    })
  },
}
