// Attacks with multipart forms, with nearly valid tokens and with cookies.

import type { Attack, Dice } from './attack.ts'
import type { GrammarOptions } from './http1-attacks.ts'
import type { MarkedAccount } from './marked-household.ts'
import { authorizationOf, pickAttacker } from './odd-values.ts'

type Written = { method?: string; path: string; lines?: readonly string[]; body?: string }

/** A request that is valid HTTP. */
function writeWhole(host: string, { method = 'GET', path, lines = [], body }: Written): Buffer {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
  const all = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...lines, ...length]
  return Buffer.from(`${all.join('\r\n')}\r\n\r\n${body ?? ''}`, 'latin1')
}

/** Sends multipart/form-data to token endpoints, which accept it, and to other endpoints. RFC 7578, RFC 2046. */
export function createMultipartAttack(dice: Dice, { household, host }: GrammarOptions): Attack {
  const attacker = pickAttacker(dice, household)
  const boundary = dice.pick(['x', 'a'.repeat(70), 'b'.repeat(3000), '', '--', 'x y', "'()+_,-./:=?"])
  const declared = dice.pick([
    boundary,
    boundary,
    boundary,
    `"${boundary}"`,
    `"${boundary}`,
    `${boundary}; boundary=y`,
    'other',
  ])
  const types = [
    `multipart/form-data; boundary=${declared}`,
    'multipart/form-data',
    `multipart/mixed; boundary=${declared}`,
  ]
  const type = dice.pick([types[0]!, types[0]!, types[0]!, ...types, `Multipart/Form-Data;BOUNDARY=${declared}`])
  const form = {
    grant_type: dice.pick(['password', 'refresh_token', 'authorization_code', '']),
    client_id: dice.pick([household.clientId, 'x']),
    username: attacker?.email ?? 'nobody',
    password: 'not it',
    refresh_token: 'njrt_x',
  }
  const names = [...Object.keys(form), 'token', '__proto__', '_charset_', '']
  const count = dice.pick([1, 3, 5, 5, 5, 40, 1500])
  const end = dice.isOneIn(10) ? dice.pick(['\n', '\r', '']) : '\r\n'
  const parts = Array.from({ length: count }, (_, i) => {
    const name = i < 5 ? Object.keys(form)[i]! : dice.pick(names)
    const value = (form as { [name: string]: string })[name] ?? 'x'
    const dispositions = [
      `form-data; name="${name}"`,
      `form-data; name=${name}`,
      `form-data; name="${name}"; filename="../x\u0000"`,
    ]
    const odd = [
      'form-data',
      'attachment; name="x"',
      `form-data; name="${'n'.repeat(4000)}"`,
      'form-data; name="a\\"b"',
      "form-data; name*=utf-8''%ff",
    ]
    const disposition = dice.isOneIn(5) ? dice.pick([...dispositions, ...odd]) : dispositions[0]!
    const extra = dice.isOneIn(8)
      ? `${dice.pick(['Content-Type: text/plain; charset=utf-16', 'Content-Transfer-Encoding: base64', 'Content-Type: multipart/mixed; boundary=x', 'bad line', ' folded: x'])}${end}`
      : ''
    const content = dice.isOneIn(8)
      ? dice.pick(['', '\u0000\u00ff', `--${boundary}`, `\r\n--${boundary}--\r\n`, 'v'.repeat(3000)])
      : value
    return `--${boundary}${end}Content-Disposition: ${disposition}${end}${extra}${end}${content}${end}`
  })
  const closing = dice.isOneIn(5)
    ? dice.pick(['', `--${boundary}`, `--${boundary}-`, `--${boundary}--`, `--${boundary}--garbage`])
    : `--${boundary}--\r\n`
  const body = `${dice.isOneIn(8) ? 'preamble\r\n' : ''}${parts.join('')}${closing}`
  const path = dice.pick([
    '/oauth/token/',
    '/oauth/token/',
    '/oauth/token-revoke/',
    '/v1/cameras/',
    '/v1/events/',
    '/sign-in/',
  ])
  const lines = [`Content-Type: ${type}`, ...(attacker ? [`Authorization: ${authorizationOf(attacker, dice)}`] : [])]
  const { method } = { method: dice.isOneIn(12) ? 'PUT' : 'POST' }
  return {
    ...{ kind: 'multipart', what: `a form for ${path}`, protocol: 'http/1.1', ending: 'wait' },
    writes: dice.split(writeWhole(host, { method, path, lines, body: body.slice(0, 80_000) }), 3),
    callers: attacker ? [attacker.name] : [],
  }
}

/** Always changes the secret itself, and not only its ends, which a server may trim. */
function spoil(dice: Dice, secret: string): string {
  const at = 1 + dice.below(secret.length - 2)
  const other = dice.pick([...'aZ09-_.~'].filter((character) => character !== secret[at]))
  const spoilt = [
    secret.slice(0, at) + other + secret.slice(at + 1),
    secret.slice(0, at),
    secret.slice(0, at) + secret.slice(at + 1),
    `${secret}${other}`,
    `${other}${secret}`,
    `${secret.slice(0, at)}${other}${secret.slice(at)}`,
    `${secret}.${secret}`,
    `${secret},${secret}`,
    secret.slice(0, at) + secret.slice(at).repeat(100),
    `${secret.slice(0, at)}\u0000${secret.slice(at)}`,
    `${secret}%00`,
    `"${secret}"`,
    secret.replace(
      /^(nj\w+)_/,
      (_, kind: string) => `${dice.pick(['njp', 'njat', 'njrt', 'njcs', 'njac'].filter((each) => each !== kind))}_`,
    ),
    Buffer.from(secret).toString('base64'),
    `${secret.slice(0, at)}\u00e9${secret.slice(at + 1)}`,
  ]
  const candidate = dice.pick(spoilt)
  return candidate === secret ? `${secret}x` : candidate
}

/** Removes characters that would end the header. */
const inCookie = (value: string) => value.replaceAll(/[;,]/g, '.').replaceAll('\0', '.')

const requestedPaths = [
  '/v1/me/',
  '/v1/cameras/',
  '/v1/shared-cameras/',
  '/v1/users/',
  '/v1/me/tokens/',
  '/v1/server/',
] as const

/** Sends tokens that are nearly valid, or valid tokens where they do not count. */
export function createTokenAttack(dice: Dice, { household, host }: GrammarOptions): Attack {
  const whose = dice.pick(Object.values(household.accounts))
  const path = dice.pick(requestedPaths)
  const attack = (what: string, written: Written, callers: MarkedAccount[] = [], mustFail = true): Attack => ({
    ...{ kind: 'tokens', what, protocol: 'http/1.1', ending: 'wait', mustFail },
    writes: [writeWhole(host, written)],
    callers: callers.map(({ name }) => name),
  })
  const form = (fields: { [name: string]: string }) => ({
    method: 'POST',
    lines: ['Content-Type: application/x-www-form-urlencoded'],
    body: new URLSearchParams(fields).toString(),
  })
  switch (dice.below(9)) {
    case 0:
    case 1:
      return attack('a spoilt personal token', {
        path,
        lines: [`Authorization: PersonalAccessToken ${spoil(dice, whose.token)}`],
      })
    case 2:
      return attack('a spoilt access token', { path, lines: [`Authorization: Bearer ${spoil(dice, whose.access)}`] })
    case 3: {
      const schemes = [
        `Bearer ${whose.token}`,
        `PersonalAccessToken ${whose.access}`,
        `Basic ${whose.token}`,
        whose.token,
      ]
      const more = [
        `Bearer ${whose.refresh}`,
        `Basic ${Buffer.from(`${whose.email}:${whose.token}`).toString('base64')}`,
      ]
      return attack('a token by the wrong scheme', {
        path,
        lines: [`Authorization: ${dice.pick([...schemes, ...more])}`],
      })
    }
    case 4: {
      const query = `${path}?${dice.pick(['access_token', 'token', 'authorization', 'PersonalAccessToken'])}=${whose.token}`
      const lines = [
        [`X-Authorization: PersonalAccessToken ${whose.token}`],
        [`Cookie: token=${whose.token}; __Host-session=${whose.token}`],
        [],
      ]
      return attack('a token where none counts', { path: query, lines: dice.pick(lines) })
    }
    case 5: {
      const fields = {
        grant_type: 'refresh_token',
        client_id: household.clientId,
        refresh_token: spoil(dice, whose.refresh),
      }
      return attack('a spoilt refresh token', { path: '/oauth/token/', ...form(fields) })
    }
    case 6: {
      const fields = {
        client_id: household.clientId,
        token: spoil(dice, dice.pick([whose.access, whose.refresh, whose.token])),
      }
      return attack('a spoilt token to be revoked', { path: '/oauth/token-revoke/', ...form(fields) }, [], false)
    }
    case 7: {
      const of = dice.pick([household.accounts.vera, household.accounts.gus, household.accounts.stan])
      const [mediaPath, token] = dice.pick(of.media).split('token=') as [string, string]
      return attack('a corrupted media URL', {
        path: `${mediaPath}token=${encodeURIComponent(spoil(dice, token))}`,
      })
    }
    default: {
      // Uses the attacker's own valid token with the URL of another camera of the same kind.
      const { vera, stan } = household.accounts
      const [, token] = dice.pick(stan.media).split('token=') as [string, string]
      const [mediaPath] = dice.pick(vera.media).split('?') as [string]
      return attack('a URL of one camera with the token of another', { path: `${mediaPath}?token=${token}` }, [stan])
    }
  }
}

/** Sends nearly valid cookies among unusual ones, and valid cookies where a browser would not send them. */
export function createCookieAttack(dice: Dice, { household, host }: GrammarOptions): Attack {
  const whose = dice.pick(Object.values(household.accounts))
  const pairs = whose.cookie.split('; ').map((pair) => pair.split(/=(.*)/s) as [string, string])
  const session = pairs.find(([name]) => name === '__Host-session')![1]
  const page = dice.pick(['/account/', '/account/tokens/', '/account/password/', '/sign-in/', '/oauth/authorize/', '/'])
  const attack = (what: string, written: Written, callers: MarkedAccount[] = [], mustFail = false): Attack => ({
    ...{ kind: 'cookies', what, protocol: 'http/1.1', ending: 'wait', mustFail },
    writes: [writeWhole(host, { ...written, lines: ['Accept: text/html', ...(written.lines ?? [])] })],
    callers: callers.map(({ name }) => name),
  })
  switch (dice.below(5)) {
    case 0: {
      const value = inCookie(spoil(dice, session))
      return attack('a spoilt session', {
        path: page,
        lines: [`Cookie: __Host-session=${value === session ? 'x' : value}`],
      })
    }
    case 1: {
      const odd = [
        '=',
        ';',
        '; ;',
        'a',
        'a=b=c',
        '"a"="b"',
        '__Host-session',
        '__proto__=x',
        `x=${'y'.repeat(9000)}`,
        '__Host-visit=%00; __Host-language=../../x',
      ]
      const cookie = Array.from({ length: 1 + dice.below(30) }, () => dice.pick(odd)).join(
        dice.pick(['; ', ';', ', ', '\t']),
      )
      return attack('odd cookies', { path: page, lines: [`Cookie: ${cookie}`] })
    }
    case 2:
      return attack(
        'a session where only tokens count',
        { path: dice.pick(requestedPaths), lines: [`Cookie: ${whose.cookie}`] },
        [],
        true,
      )
    case 3: {
      const { vera } = household.accounts
      const lines = dice.pick([
        ['Origin: https://evil.example'],
        ['Sec-Fetch-Site: cross-site'],
        ['Origin: null', 'Sec-Fetch-Site: same-site'],
        [`Origin: https://${host}.evil.example`],
      ])
      const body = new URLSearchParams({
        name: 'Evil',
        email: 'evil@example.com',
        password: 'evil horses run',
        scope: 'account_manage',
      }).toString()
      const path = dice.pick([
        '/account/',
        '/account/tokens/',
        '/account/password/',
        '/account/email/',
        '/sign-out/',
        '/oauth/authorize/',
      ])
      const type = 'Content-Type: application/x-www-form-urlencoded'
      return attack(
        'a form of another site',
        { method: 'POST', path, lines: [`Cookie: ${vera.cookie}`, type, ...lines], body },
        [vera],
        true,
      )
    }
    default: {
      const two = [
        `__Host-session=${inCookie(spoil(dice, session))}`,
        `__Host-session=${household.accounts.stan.cookie.split('__Host-session=')[1]?.split(';')[0]}`,
      ]
      return attack(
        'two sessions',
        { path: page, lines: [`Cookie: ${dice.isOneIn(2) ? two.join('; ') : two.reverse().join('; ')}`] },
        [household.accounts.stan],
      )
    }
  }
}
