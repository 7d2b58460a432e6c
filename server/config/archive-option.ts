// The folders for recordings.

import { join, resolve } from 'node:path'
import { isBucket, type Place } from '../model/place.ts'
import { parseBucketUrl } from '../places/bucket/bucket-url.ts'
import type { Option } from './option.ts'

type ArchiveFolder = Pick<Place, 'folder' | 'weight'>

export const archiveOption: Option<readonly [ArchiveFolder, ...ArchiveFolder[]]> = {
  placeholder: 'FOLDER[,FOLDER=WEIGHT…]',
  description:
    'Folder for recordings, or several on different disks, which share new recordings in proportion to their weights.',
  defaultText: '`archive` in the data folder',
  limits: 'Paths separated by commas, each with a weight from 0.01 to 10000 if it is not 1.',
  isSwitch: false,
  createDefault: ({ dataDir }) => [{ folder: join(dataDir, 'archive'), weight: 1 }],
  parse(text, baseDir) {
    const folders = text.split(',').map((item) => {
      if (isBucket({ folder: item.trim() })) {
        parseBucketUrl(item.trim())
        return { folder: item.trim(), weight: 1 }
      }
      const [, path = '', weight = '1'] = /^(.*?)(?:=(\d{1,5}(?:\.\d{1,4})?))?$/s.exec(item.trim())!
      if (path === '' || path.includes('\0')) throw new Error('expected a path')
      if (Number(weight) < 0.01 || Number(weight) > 10_000) throw new Error('expected a weight from 0.01 to 10000')
      return { folder: resolve(baseDir, path), weight: Number(weight) }
    })
    const [first, ...others] = folders
    if (isBucket(first!)) throw new Error('expected a folder first: recordings are in it until they are uploaded')
    if (new Set(folders.map(({ folder }) => folder)).size < folders.length)
      throw new Error('expected each folder only once')
    return [first!, ...others]
  },
}
