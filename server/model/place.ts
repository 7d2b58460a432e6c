// A place holds files of the archive: a folder on one disk. Every file is in exactly one place.

export type Place = {
  readonly id: number
  /** Absolute. It may change, for instance when a disk is mounted elsewhere; `mark` tells that it is the same place. */
  readonly folder: string
  /** Written in the marker file of the place. Nothing else has the same. */
  readonly mark: string
  /** New files are spread over the places in proportion to their weights. */
  readonly weight: number
  /** No new files; those it holds are moved to other places. */
  readonly isDraining: boolean
  /** The name of the server on whose machine the folder is; undefined for buckets, and where there is one server. */
  readonly node?: string | undefined
}

/** A bucket, whose `folder` is its address. Recorders do not write there; closed files are moved there. */
export function isBucket({ folder }: Pick<Place, 'folder'>): boolean {
  return folder.startsWith('s3://')
}

/** Whether a server of this name can use it: buckets all can. */
export function isOwnPlace({ folder, node }: Pick<Place, 'folder' | 'node'>, name: string | undefined): boolean {
  return isBucket({ folder }) || node === undefined || name === undefined || node === name
}

/** The place of `--archive`, which exists in every installation. */
export const firstPlaceId = 1
