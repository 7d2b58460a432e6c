// Parts of requests for both versions of HTTP: valid and unusual paths, headers and bodies.

import type { Dice } from './attack.ts'
import type { MarkedAccount, MarkedHousehold } from './marked-household.ts'

/** Returns an attacker with valid credentials, or nobody in three of ten cases. */
export function pickAttacker(dice: Dice, { accounts }: MarkedHousehold): MarkedAccount | undefined {
  return dice.pick([accounts.gus, accounts.stan, undefined, accounts.gus, accounts.stan, accounts.stan, undefined])
}

export const authorizationOf = (account: MarkedAccount, dice: Dice): string =>
  dice.isOneIn(3) ? `Bearer ${account.access}` : `PersonalAccessToken ${account.token}`

const paths = [
  '/v1/me/',
  '/v1/me',
  '/v1/cameras/',
  '/v1/shared-cameras/',
  '/v1/events/',
  '/v1/me/tokens/',
  '/v1/me/applications/',
  '/v1/users/',
  '/v1/server/',
  '/v1/cameras/stream-detection/',
  '/v1/no-such-thing/',
  '/',
  '/docs/',
  '/openapi.json',
  '/sign-in/',
  '/sign-up/',
  '/account/',
  '/set-up/',
  '/reset/',
  '/oauth/authorize/',
  '/oauth/token/',
  '/oauth/token-revoke/',
  '/.well-known/oauth-authorization-server',
  '/healthz',
  '/favicon.ico',
]

const oddPaths = [
  '*',
  '//',
  '//evil.example/v1/me/',
  '/\\evil.example/',
  '/v1/../v1/me/',
  '/v1/%2e%2e/%2e%2e/etc/passwd',
  '/docs/..%2f..%2fsecret.key',
  '/assets/../../nightjar.db',
  '/v1/cameras/%00/',
  '/v1/cameras/%ff/',
  '/v1/cameras/%/',
  '/v1/cameras/1e3/',
  '/v1/cameras/-1/',
  '/v1/cameras/99999999999999999999/',
  '/v1/cameras/__proto__/',
  '/v1/me/;x=y',
  '/v1/me/#fragment',
  '/v1//me/',
  '/V1/ME/',
  '/v1/me/?%00',
  '/v1/me/?a=1&a=2&__proto__=x',
  '/v1/cameras/?limit=1e9&offset=-1',
  `/v1/cameras/?${'a=b&'.repeat(2000)}`,
  `/${'a'.repeat(9000)}`,
  `/${'a/'.repeat(3000)}`,
  '/constructor',
  '/metrics',
  '/recording/streams/x/hls/playlist.m3u8',
  `/recording/streams/${'0'.repeat(32)}/hls/playlist.m3u8`,
  '',
]

/** Object IDs are those of the household, including other users' objects. */
export function pickPath(dice: Dice, household: MarkedHousehold): string {
  const account = dice.pick(Object.values(household.accounts))
  const camera = dice.pick(account.cameraIds) ?? 1
  switch (dice.below(6)) {
    case 0:
      return dice.pick(oddPaths)
    case 1:
      return `/v1/cameras/${camera}/${dice.pick(['', 'recording/', 'guests/', 'source/', 'recording/timeline/'])}`
    case 2:
      return `/v1/shared-cameras/${camera}/${dice.pick(['', 'recording/', 'recording/timeline/'])}`
    case 3: {
      // Valid tokens are not used: they would authenticate the sender as the user they were created for.
      return `/media/cameras/${camera}/${dice.pick(['live.jpg', 'live.m3u8', 'live.mjpeg', 'recorded.jpg'])}?token=${dice.pick(['', 'x', '0'.repeat(200)])}`
    }
    default:
      return dice.pick(paths)
  }
}

export const methods = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export const oddMethods = [
  'TRACE',
  'CONNECT',
  'PRI',
  'get',
  'G@T',
  'QUERY',
  'PROPFIND',
  'M-SEARCH',
  'SOURCE',
  'GET/',
  'X'.repeat(5000),
  '__proto__',
]

/** No request with one of these headers may change anything of an account that does not attack. */
export function pickHeader(dice: Dice): readonly [name: string, value: string] {
  return dice.pick(oddHeaders)
}

const oddHeaders: readonly (readonly [string, string])[] = [
  ['accept', 'text/html'],
  ['accept', '*/*;q=nan, ,,;'],
  ['accept-language', 'de-DE-1901-x-y,fr;q=2,*;q=-1'],
  ['accept-language', 'x,'.repeat(2000)],
  ['accept-encoding', 'br;q=1, gzip;q=0, *'],
  ['accept-encoding', 'identity;q=0'],
  ['range', 'bytes=0-'],
  ['range', 'bytes=-1,-2,5-1,0-99999999999999999999'],
  ['range', `bytes=${'0-1,'.repeat(1000)}2-3`],
  ['if-none-match', 'W/"x", *'],
  ['if-modified-since', 'Sun, 99 Nev 10000 25:61:61 GMT'],
  ['x-forwarded-for', '127.0.0.1, evil'],
  ['x-forwarded-proto', 'http'],
  ['x-forwarded-host', 'evil.example'],
  ['forwarded', 'for="[::1]";host=evil.example;proto=http'],
  ['x-http-method-override', 'DELETE'],
  ['x-original-url', '/v1/users/'],
  ['origin', 'https://evil.example'],
  ['origin', 'null'],
  ['sec-fetch-site', 'cross-site'],
  ['access-control-request-method', 'DELETE\u000b'],
  ['idempotency-key', 'k'.repeat(3000)],
  ['expect', '200-maybe'],
  ['te', 'trailers, deflate'],
  ['content-encoding', 'gzip'],
  ['content-type', 'application/json; charset=utf-7'],
  ['content-type', 'multipart/form-data'],
  ['content-type', `text/${'x'.repeat(5000)}`],
  ['cookie', 'a=b; __Host-session=; __Host-session=x; =; ;;'],
  ['referer', 'javascript:alert(1)'],
  ['user-agent', '\u00ff\u00fe{{7*7}}'],
  ['via', '1.1 x, '.repeat(500)],
  ['x-large', 'x'.repeat(15_000)],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['authorization', 'Basic b2xpdmU6'],
  ['authorization', 'PersonalAccessToken'],
  ['authorization', `Bearer ${'x'.repeat(8000)}`],
  ['authorization', 'Digest username="x", realm="y'],
]

export function pickBody(dice: Dice): string {
  return dice.pick([
    '{"name":"x"}',
    '{"name":"x","url":"rtsp://127.0.0.1:9/none"}',
    '{"first_name":"Odd"}',
    '{}',
    '[]',
    'null',
    '{"__proto__":{"is_owner":true},"constructor":{"prototype":{}}}',
    '{"a":'.repeat(2000),
    '"\\ud800"',
    '{"title":"\u0000","camera":1e400}',
    'grant_type=password&username=x&password=y',
    'grant_type=password&grant_type=refresh_token&client_id=%ff',
    '%00=%&&&==',
    `x=${'y'.repeat(70_000)}`,
    '',
  ])
}
