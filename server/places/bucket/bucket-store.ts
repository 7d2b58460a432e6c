// The requests to the store of a bucket that places need. The library is loaded with the first one.

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { S3Client } from '@aws-sdk/client-s3'
import { AppError } from '../../base/error.ts'
import { BucketRefusal, explainBucketError, isMissing, isPassing } from './bucket-errors.ts'
import type { BucketUrl } from './bucket-url.ts'

export type StoredObject = {
  readonly bytes: number
  /** The MD5 of the content in hexadecimal, if the store says so. */
  readonly md5: string | undefined
}

const connectMs = 5000
/** A store that sends or takes nothing for so long is not there. */
const idleMs = 20_000
const attempts = 4
const firstPauseMs = 200
/** The largest number that stores accept. */
const deletionsAtOnce = 1000

export class BucketStore {
  readonly #url: BucketUrl
  #client: Promise<S3Client> | undefined

  constructor(url: BucketUrl) {
    this.#url = url
  }

  /** At most `bytes` from `at` on. Throws 'not_found', and 'unavailable' with the reason. */
  async read(path: string, at: number, bytes: number): Promise<Uint8Array> {
    const { GetObjectCommand } = await import('@aws-sdk/client-s3')
    return this.#try('read', async (client, signal) => {
      const Range = `bytes=${at}-${at + bytes - 1}`
      const answer = await client
        .send(new GetObjectCommand({ ...this.#key(path), Range }), { abortSignal: signal })
        .catch((error) => {
          if (error.name === 'InvalidRange' || error.$metadata?.httpStatusCode === 416) return undefined
          throw error
        })
      if (!answer) return new Uint8Array(0)
      const [, start, end, whole] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.ContentRange ?? '') ?? []
      const expected = Math.min(bytes, Number(whole) - at)
      if (Number(start) !== at || Number(end) !== at + expected - 1)
        throw new AppError('unavailable', `expected a part of the object, got ${answer.ContentRange ?? 'all of it'}`)
      const data = await collect(answer.Body as Readable, expected)
      return data
    })
  }

  /** Undefined if there is no such object. */
  async find(path: string): Promise<StoredObject | undefined> {
    const { HeadObjectCommand } = await import('@aws-sdk/client-s3')
    try {
      return await this.#try('read', async (client, signal) => {
        const { ContentLength, ETag } = await client.send(new HeadObjectCommand(this.#key(path)), {
          abortSignal: signal,
        })
        return { bytes: ContentLength ?? 0, md5: /^"?([0-9a-f]{32})"?$/.exec(ETag ?? '')?.[1] }
      })
    } catch (error) {
      if (error instanceof AppError && error.kind === 'not_found') return undefined
      throw error
    }
  }

  /**
   * `open`: called for each attempt. `md5`: in base64; the store refuses a body with another one. `type`: the media type.
   */
  async write(
    path: string,
    open: () => Readable,
    { bytes, md5, type }: { readonly bytes: number; readonly md5: string; readonly type: string },
  ): Promise<void> {
    const { PutObjectCommand } = await import('@aws-sdk/client-s3')
    await this.#try('store', async (client, signal) => {
      const Body = open()
      try {
        const values = { ContentLength: bytes, ContentMD5: md5, ContentType: type }
        await client.send(new PutObjectCommand({ ...this.#key(path), ...values, Body }), { abortSignal: signal })
      } finally {
        Body.destroy()
      }
    })
  }

  async remove(path: string): Promise<void> {
    const { DeleteObjectCommand } = await import('@aws-sdk/client-s3')
    try {
      await this.#try('delete', (client, abortSignal) =>
        client.send(new DeleteObjectCommand(this.#key(path)), { abortSignal }),
      )
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'not_found')) throw error
    }
  }

  /** Returns the paths that could not be deleted, with the error of each. */
  async removeAll(paths: readonly string[]): Promise<Map<string, unknown>> {
    const failed = new Map<string, unknown>()
    for (let i = 0; i < paths.length; i += deletionsAtOnce) {
      const some = paths.slice(i, i + deletionsAtOnce)
      try {
        for (const [path, error] of await this.#removeAtOnce(some)) failed.set(path, error)
      } catch (error) {
        // Not every store knows this request, and some want it otherwise.
        const { cause } = error as Error
        const isAway = cause !== undefined && isPassing(cause)
        const each = isAway ? some.map((path) => [path, error] as const) : await this.#removeEach(some)
        for (const [path, reason] of each) failed.set(path, reason)
      }
    }
    return failed
  }

  async #removeAtOnce(paths: readonly string[]): Promise<(readonly [string, AppError])[]> {
    const { DeleteObjectsCommand } = await import('@aws-sdk/client-s3')
    const { bucket, prefix } = this.#url
    const Delete = { Quiet: true, Objects: paths.map((path) => ({ Key: `${prefix}${path}` })) }
    const { Errors = [] } = await this.#try('delete', (client, abortSignal) =>
      client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }), { abortSignal }),
    )
    return Errors.filter(({ Code }) => Code !== 'NoSuchKey').map(({ Key, Code, Message }) => {
      const reason = `the store does not delete this object: ${Code} ${Message ?? ''}`
      return [Key!.slice(prefix.length), new AppError('unavailable', reason.trim())]
    })
  }

  async #removeEach(paths: readonly string[]): Promise<(readonly [string, unknown])[]> {
    const failed: [string, unknown][] = []
    for (const [i, path] of paths.entries()) {
      try {
        await this.remove(path)
      } catch (error) {
        failed.push([path, error])
        if (error instanceof BucketRefusal)
          return [...failed, ...paths.slice(i + 1).map((rest) => [rest, error] as const)]
      }
    }
    return failed
  }

  /** Names of objects and folders in a folder of the prefix. */
  async list(folder: string): Promise<string[]> {
    const { ListObjectsV2Command } = await import('@aws-sdk/client-s3')
    const names: string[] = []
    const Prefix = `${this.#url.prefix}${folder}/`
    for (let token: string | undefined; ; ) {
      const page = await this.#try('list', (client, abortSignal) => {
        const query = { Bucket: this.#url.bucket, Prefix, Delimiter: '/', ContinuationToken: token }
        return client.send(new ListObjectsV2Command(query), { abortSignal })
      })
      for (const { Key } of page.Contents ?? []) names.push(Key!.slice(Prefix.length))
      for (const each of page.CommonPrefixes ?? []) names.push(each.Prefix!.slice(Prefix.length, -1))
      token = page.NextContinuationToken
      if (!page.IsTruncated || token === undefined) return names
    }
  }

  #key(path: string) {
    return { Bucket: this.#url.bucket, Key: `${this.#url.prefix}${path}` }
  }

  /**
   * Repeats what may succeed a moment later: a store that is busy or restarts, a connection that breaks, a body that ends
   * early.
   */
  async #try<T>(
    action: 'read' | 'store' | 'list' | 'delete',
    request: (client: S3Client, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const client = await (this.#client ??= this.#open())
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(client, AbortSignal.timeout(10 * 60_000))
      } catch (error) {
        if (isMissing(error)) throw new AppError('not_found', 'this recording has been deleted', { cause: error })
        if (attempt === attempts || !isPassing(error)) throw explainBucketError(error, this.#url, action)
        await sleep(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()))
      }
    }
  }

  async #open(): Promise<S3Client> {
    const { S3Client } = await import('@aws-sdk/client-s3')
    const { endpoint, region, isPathStyle } = this.#url
    const defaultRegion = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION
    const client = new S3Client({
      ...(endpoint !== undefined && { endpoint, region: region ?? defaultRegion ?? 'us-east-1' }),
      ...(region !== undefined && { region }),
      forcePathStyle: isPathStyle,
      followRegionRedirects: true,
      maxAttempts: 1,
      logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
      // Other stores than Amazon's do not know the checksums that it has added.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: connectMs, socketTimeout: idleMs, throwOnRequestTimeout: true },
    })
    // The library adds a checksum that stores other than Amazon's do not know, and not the one that they want.
    client.middlewareStack.add(
      (next, context) => (args) => {
        const request = args.request as { readonly headers: Record<string, string>; readonly body?: unknown }
        if (context.commandName === 'DeleteObjectsCommand' && typeof request.body === 'string')
          request.headers['content-md5'] = createHash('md5').update(request.body).digest('base64')
        return next(args)
      },
      { step: 'build', name: 'contentMd5' },
    )
    return client
  }
}

/** Throws 'unavailable' when the body has another length. */
async function collect(body: Readable, bytes: number): Promise<Uint8Array> {
  const data = new Uint8Array(bytes)
  let filled = 0
  for await (const chunk of body) {
    const { length } = chunk as Uint8Array
    if (filled + length > bytes) throw new AppError('unavailable', `expected ${bytes} bytes of the object, got more`)
    data.set(chunk as Uint8Array, filled)
    filled += length
  }
  if (filled < bytes) throw new AppError('unavailable', `expected ${bytes} bytes of the object, got ${filled}`)
  return data
}
