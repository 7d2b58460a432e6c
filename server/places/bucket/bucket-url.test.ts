import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBucketUrl } from './bucket-url.ts'

test('the address of a bucket', () => {
  const defaults = { prefix: '', endpoint: undefined, region: undefined, isPathStyle: false }
  const unlimited = { afterMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY }
  assert.deepEqual(parseBucketUrl('s3://footage'), { ...defaults, ...unlimited, bucket: 'footage' })
  assert.deepEqual(
    parseBucketUrl(
      's3://my.bucket/a/b%20c/?region=eu-central-1&endpoint=https://s3.example.org:9000&after=P7D&rate=5MB',
    ),
    {
      ...{ bucket: 'my.bucket', prefix: 'a/b c/', region: 'eu-central-1', endpoint: 'https://s3.example.org:9000' },
      ...{ isPathStyle: true, afterMs: 7 * 86_400_000 },
      bytesPerSecond: 5e6,
    },
  )
  assert.equal(parseBucketUrl('s3://footage?endpoint=https://x.example&path-style=false').isPathStyle, false)
  for (const [wrong, expected] of [
    ['s3:footage', /not the name of a bucket/],
    ['s3://footage/%zz', /expected s3:/],
    ['http://footage', /expected s3:/],
    ['s3://F', /not the name of a bucket/],
    ['s3://ab_c', /not the name of a bucket/],
    ['s3://key:secret@footage', /credentials do not belong/],
    ['s3://footage/a/../b//c', /prefix without empty parts/],
    ['s3://footage?secret=x', /unknown option "secret"/],
    ['s3://footage?endpoint=ftp://x', /endpoint: expected https/],
    ['s3://footage?endpoint=https://u:p@x', /endpoint: expected https/],
    ['s3://footage?after=1 week', /not a duration/],
    ['s3://footage?rate=fast', /not a size/],
    ['s3://footage?rate=1', /at least 1kB/],
  ] as const)
    assert.throws(() => parseBucketUrl(wrong), { kind: 'invalid', message: expected }, wrong)
})
