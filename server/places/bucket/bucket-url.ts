// s3://bucket/prefix?endpoint=…&region=…&after=P7D: a bucket as a place.

import { AppError } from '../../base/error.ts'
import { parseByteSize } from '../../model/byte-size.ts'
import { parseDurationMs } from '../../model/duration.ts'

export type BucketUrl = {
  readonly bucket: string
  /** Empty, or ends with '/'. */
  readonly prefix: string
  /** Undefined: Amazon's. */
  readonly endpoint: string | undefined
  /** Undefined: as in the environment or the files of the AWS tools. */
  readonly region: string | undefined
  /** The bucket is a part of the path, not of the host name. */
  readonly isPathStyle: boolean
  /** Recordings stay on the local disks for this long. */
  readonly afterMs: number
  /** Of uploads, all together; infinite without a limit. */
  readonly bytesPerSecond: number
}

const options = ['endpoint', 'region', 'path-style', 'after', 'rate']

/** Throws 'invalid'. Secrets do not belong into the URL, and are refused. */
export function parseBucketUrl(text: string): BucketUrl {
  const url = URL.canParse(text) && !/%(?![0-9a-f]{2})/i.test(text) ? new URL(text) : undefined
  if (url?.protocol !== 's3:') throw invalid('expected s3://BUCKET/PREFIX?endpoint=URL&region=NAME&after=P7D')
  if (url.username || url.password || url.hash)
    throw invalid(
      'credentials do not belong into the address of a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    )
  const bucket = url.hostname
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw invalid(`"${bucket}" is not the name of a bucket`)
  const unknown = [...url.searchParams.keys()].find((name) => !options.includes(name))
  if (unknown !== undefined) throw invalid(`unknown option "${unknown}": expected ${options.join(', ')}`)
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  if (/(^|\/)\.{0,2}(\/|$)/.test(prefix) && prefix !== '')
    throw invalid('expected a prefix without empty parts, . or ..')
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\/[^/?#@]+\/?$/.test(endpoint))
    throw invalid(`endpoint: expected https:// and a host, got "${endpoint.slice(0, 80)}"`)
  const after = url.searchParams.get('after') ?? undefined
  const rate = url.searchParams.get('rate') ?? undefined
  const bytesPerSecond = rate === undefined ? Number.POSITIVE_INFINITY : parseByteSize(rate)
  if (bytesPerSecond < 1000) throw invalid(`rate: expected at least 1kB, got "${rate}"`)
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: url.searchParams.get('region') ?? undefined,
    isPathStyle: (url.searchParams.get('path-style') ?? String(endpoint !== undefined)) === 'true',
    afterMs: after === undefined ? 0 : parseDurationMs(after),
    bytesPerSecond,
  }
}

function invalid(message: string): AppError {
  return new AppError('invalid', message)
}
