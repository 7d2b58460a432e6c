// What the store of a bucket answers, as an error that says what to do.

import { AppError, errorChain } from '../../base/error.ts'
import type { BucketUrl } from './bucket-url.ts'

/** The store refuses this request now and later; nothing changes until somebody does something. */
export class BucketRefusal extends AppError {}

type StoreError = Error & {
  readonly code?: string
  readonly Code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** There is no object of this name. */
export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as StoreError
  return name === 'NoSuchKey' || name === 'NotFound' || ($metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket')
}

/** Whether the same request may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof BucketRefusal) return false
  const { name, $metadata } = error as StoreError
  // The library takes the time from the answer, and signs the next request with it.
  if (name === 'RequestTimeTooSkewed') return true
  const status = $metadata?.httpStatusCode
  return status === undefined || (status >= 500 && status !== 501) || status === 429 || status === 408
}

/** `action`: what was tried, as in "the account may not … objects". */
export function explainBucketError(
  error: unknown,
  url: BucketUrl,
  action: 'read' | 'store' | 'list' | 'delete',
): AppError {
  if (error instanceof AppError) return error
  const { name, code, Code, $metadata, $response } = error as StoreError
  const status = $metadata?.httpStatusCode
  const at = url.endpoint ?? 'Amazon S3'
  const refuse = (message: string) => new BucketRefusal('unavailable', message, { cause: error })
  const known = code ?? Code ?? name
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(String(code)))
    return refuse(`the certificate of ${at} cannot be verified (${code}); add its authority with NODE_EXTRA_CA_CERTS`)
  if (name === 'CredentialsProviderError')
    return refuse('there are no credentials for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (name === 'NoSuchBucket') return refuse(`there is no bucket "${url.bucket}" at ${at}`)
  if (name === 'InvalidAccessKeyId' || name === 'SignatureDoesNotMatch' || status === 401)
    return refuse(`${at} does not accept the credentials (${name}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  if (name === 'RequestTimeTooSkewed')
    return refuse(`the clock of this machine differs from that of ${at} by more than 15 minutes: correct it`)
  if (name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed' || status === 301) {
    const region = $response?.headers?.['x-amz-bucket-region']
    return refuse(`the bucket is in another region${region ? `: add region=${region} to its address` : ''}`)
  }
  if (status === 403) return refuse(`the account may not ${action} objects in bucket "${url.bucket}" (${known})`)
  if (
    status === 404 ||
    status === 405 ||
    status === 501 ||
    /deserialization|XML|parse/i.test(String((error as Error).message))
  )
    return refuse(`${at} does not answer as an S3 store does (${status ?? known}): check the endpoint`)
  return new AppError(
    'unavailable',
    `the store of bucket "${url.bucket}" cannot be reached: ${known ?? errorChain(error)}`,
    {
      cause: error,
    },
  )
}
