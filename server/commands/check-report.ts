// The findings of a check, as text and as JSON.

import { type CheckReport, countFaults, isClean } from '../archive/check.ts'
import type { Fix } from '../archive/fix.ts'
import type { Place } from '../model/place.ts'

/** One line for each fault, and a verdict. `others`: folders of other servers, which are not checked. */
export function describeCheck(report: CheckReport, others: readonly Place[]): string {
  const lines = [
    ...report.missingFiles.map(({ path }) => `missing file: ${path}`),
    ...report.orphanFiles.map(({ path }) => `file without an entry in the index: ${path}`),
    ...report.sizeMismatches.map(
      ({ path, indexBytes, fileBytes }) => `${path}: ${fileBytes} bytes, index says ${indexBytes}`,
    ),
    ...report.damagedFiles.map(({ path, detail }) => `damaged file: ${path}: ${detail}`),
    ...report.wrongCounters.map((cameraId) => `the bytes of camera ${cameraId} are counted wrongly`),
  ]
  for (const { folder } of report.missingPlaces)
    lines.push(`${folder} is not the folder of the recordings: is its disk mounted?`)
  for (const { id, folder, node } of others) lines.push(`not checked: place ${id}, ${folder} of the server ${node}`)
  const verdict = isClean(report) ? 'The index and the files agree.' : `${countFaults(report)} faults.`
  lines.push(`${report.segments} segments, ${report.files} files, ${report.bytes} bytes. ${verdict}`)
  return lines.join('\n')
}

export function writeCheck(report: CheckReport, others: readonly Place[]) {
  return {
    ok: isClean(report),
    segments: report.segments,
    files: report.files,
    bytes: report.bytes,
    missing_files: report.missingFiles.map(({ path }) => path),
    orphan_files: report.orphanFiles.map(({ path }) => path),
    size_mismatches: report.sizeMismatches.map(({ path, indexBytes, fileBytes }) => ({
      path,
      index_bytes: indexBytes,
      file_bytes: fileBytes,
    })),
    damaged_files: report.damagedFiles.map(({ path, detail }) => ({ path, detail })),
    wrong_counters: report.wrongCounters,
    archive_missing: report.missingPlaces.length > 0,
    missing_places: report.missingPlaces.map(({ folder }) => folder),
    not_checked: others.map(({ id, folder, node }) => ({ id, folder, server: node })),
  }
}

const actions: Record<Fix['action'], string> = {
  forgotten: 'missing, forgotten',
  cut: 'cut to what is whole',
  split: 'damage taken out',
  set_aside: 'set aside',
  recounted: 'bytes counted anew',
  indexed: 'index added, so that playback and downloads begin sooner',
  adopted: 'found, and in the index now',
  empty: 'held nothing, removed',
  copy: 'was an unfinished copy of a recording in another place, removed',
  unreadable: 'left as it is',
  failed: 'NOT MENDED',
}

export function describeFixes(fixes: readonly Fix[]): string[] {
  return fixes.map(({ action, path, detail }) => `${path}: ${actions[action]}${detail ? ` (${detail})` : ''}`)
}
