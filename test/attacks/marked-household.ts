// Accounts whose texts are all unique, so that a response shows at once whether it leaks another account's data.
//
//    olive   owner of the server; reads only
//    vera    two cameras, one of them shared with gus; reads only, so any change was made by others
//    victor  a camera; an honest client all the time
//    gus     guest of vera's camera; attacks
//    stan    cameras of his own; attacks

import { PageVisitor } from '../page-visitor.ts'
import type { ServerUnderTest } from '../server-under-test.ts'
import type { AccountName } from './attack.ts'

const password = 'a password of many words'

export type MarkedAccount = {
  readonly name: AccountName
  readonly userId: number
  readonly email: string
  /** Authorization header with a personal access token that has all scopes. */
  readonly token: string
  /** Access token from the password grant. */
  readonly access: string
  readonly refresh: string
  /** Cookie header of a signed-in browser. */
  readonly cookie: string
  readonly cameraIds: readonly number[]
  readonly eventHashes: readonly string[]
  readonly otherIds: { readonly [parameter: string]: readonly number[] }
  /** Paths of media URLs with their query. */
  readonly media: readonly string[]
  /** Texts and secrets that only this account may see, unless `mayKnow` says otherwise. */
  readonly marks: readonly string[]
}

export type MarkedHousehold = {
  readonly accounts: { readonly [Name in AccountName]: MarkedAccount }
  readonly clientId: string
  /** The marks that an account may see: its own and those that others share with it. */
  listForbidden(callers: readonly AccountName[]): readonly Buffer[]
}

type Made = { readonly id: number; readonly client_id: string; readonly token: string; readonly event_api_hash: string }
type Shown = { readonly id: number; readonly live_snapshot: string; readonly streams: readonly { url: string }[] }
type Pair = { readonly access_token: string; readonly refresh_token: string }

/** `cameraUrl` is the URL of a working camera. */
export async function openMarkedHousehold(server: ServerUnderTest, cameraUrl: string): Promise<MarkedHousehold> {
  const post = async <T = Made>(path: string, token: string, body: object): Promise<T> => {
    const options = { method: 'POST', body, authorization: `PersonalAccessToken ${token}` }
    const { status, json, text } = await server.request<T>(path, options)
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
    return json
  }
  const app = ['--user', 'owner@example.com', '--name', 'Porch', '--scope', 'user_access account_manage']
  const { client_id } = await server.command<Made>('app', 'add', ...app)

  const open = async (name: AccountName, urls: readonly string[]): Promise<MarkedAccount> => {
    const mark = (what: string) => `${what}Of${name[0]!.toUpperCase()}${name.slice(1)}Alone`
    const email = name === 'olive' ? 'owner@example.com' : `${mark('Mail').toLowerCase()}@example.com`
    const person = ['--email', email, '--first-name', mark('First'), '--last-name', mark('Last')]
    if (name === 'olive') await server.command('user', 'passwd', email, '--password', password)
    else await server.command('user', 'add', '--password', password, ...person)
    const scope = ['--name', mark('Token'), '--scope', 'user_access account_manage']
    const token = await server.command<Made>('token', 'create', '--user', email, ...scope)
    const form = { grant_type: 'password', client_id, username: email, password, scope: 'user_access account_manage' }
    const granted = await server.request<Pair>('/oauth/token/', { method: 'POST', authorization: null, form })
    if (granted.status !== 200) throw new Error(granted.text)
    const browser = new PageVisitor(server)
    const page = await browser.signIn(email, password)
    if (page.status !== 200) throw new Error(page.text)

    const cameras: Made[] = []
    for (const [i, url] of urls.entries()) {
      const camera = await post('/v1/cameras/', token.token, { name: mark(`Camera${i}`), url, type: 'h264' })
      cameras.push(camera)
      await post('/v1/events/', token.token, { camera: camera.id, category: 'motion', title: mark(`Event${i}`) })
    }
    if (cameras[0]) await post(`/v1/cameras/${cameras[0].id}/recording/`, token.token, { retention: 'P7D' })
    const application = await post('/v1/me/applications/', token.token, {
      name: mark('App'),
      redirect_uris: [],
      password,
    })
    const media: string[] = []
    const ask = async <T>(path: string) =>
      (await server.request<T>(path, { authorization: `PersonalAccessToken ${token.token}` })).json
    for (const { id } of cameras) media.push(...listMedia(await ask<Shown>(`/v1/cameras/${id}/`)))
    const me = await ask<{ id: number }>('/v1/me/')
    const sessions = await ask<{ results: { id: number }[] }>('/v1/me/sessions/')
    const authorizations = await ask<{ results: { id: number }[] }>('/v1/me/authorizations/')
    const hashes = cameras.map(({ event_api_hash }) => event_api_hash)
    return {
      ...{ name, userId: me.id, email, token: token.token, cookie: browser.cookie, media, eventHashes: hashes },
      ...{ access: granted.json.access_token, refresh: granted.json.refresh_token },
      cameraIds: cameras.map(({ id }) => id),
      otherIds: {
        user_id: [me.id],
        token_id: [token.id],
        application_id: [application.id],
        session_id: sessions.results.map(({ id }) => id),
        authorization_id: authorizations.results.map(({ id }) => id),
      },
      marks: [
        ...['First', 'Last', 'Token', 'App'].filter((what) => name !== 'olive' || what !== 'First').map(mark),
        ...urls.flatMap((_, i) => [mark(`Camera${i}`), mark(`Event${i}`)]),
        ...(name === 'olive' ? [] : [mark('Mail').toLowerCase()]),
        ...[token.token, granted.json.access_token, granted.json.refresh_token, ...hashes],
        ...browser.cookie
          .split('; ')
          .map((pair) => pair.slice(pair.indexOf('=') + 1))
          .filter((value) => value.length > 20),
        ...urls.flatMap((url) => /:(Pass\w+)@/.exec(url)?.[1] ?? []),
      ],
    }
  }

  const nowhere = (who: string) => `rtsp://camera:PasswordOf${who}Alone@127.0.0.1:9/none`
  const olive = await open('olive', [])
  const vera = await open('vera', [cameraUrl, nowhere('Vera')])
  const victor = await open('victor', [nowhere('Victor')])
  const gus = await open('gus', [nowhere('Gus')])
  const stan = await open('stan', [nowhere('Stan'), nowhere('Stan')])
  const shared = vera.cameraIds[0]!
  const guest = await post(`/v1/cameras/${shared}/guests/`, vera.token, {
    email: gus.email,
    permissions: { can_view_rec: true },
  })
  const options = { authorization: `PersonalAccessToken ${gus.token}` }
  const seen = await server.request<Shown>(`/v1/shared-cameras/${shared}/`, options)
  if (seen.status !== 200) throw new Error(seen.text)
  const accounts = {
    ...{ olive, victor, stan },
    vera: { ...vera, otherIds: { ...vera.otherIds, guest_id: [guest.id] } },
    gus: { ...gus, media: [...gus.media, ...listMedia(seen.json)] },
  }
  const all = Object.values(accounts)
  const nobodys = new Map<string, readonly Buffer[]>()
  return {
    accounts,
    clientId: client_id,
    listForbidden(callers) {
      const key = callers.join()
      let forbidden = nobodys.get(key)
      if (!forbidden) {
        const knownMarks = new Set(callers.flatMap((caller) => listKnown(accounts, caller)))
        forbidden = all
          .flatMap(({ marks }) => marks.filter((mark) => !knownMarks.has(mark)))
          .map((mark) => Buffer.from(mark))
        nobodys.set(key, forbidden)
      }
      return forbidden
    },
  }
}

const pathOf = (url: string) => {
  const { pathname, search } = new URL(url)
  return pathname + search
}

const listMedia = ({ live_snapshot, streams }: Shown) => [live_snapshot, ...streams.map(({ url }) => url)].map(pathOf)

function listKnown(accounts: MarkedHousehold['accounts'], caller: AccountName): string[] {
  const own = accounts[caller].marks
  const isWho = (mark: string) => /^(First|Last|mail)/.test(mark)
  // The owner of the server sees the list of accounts, but not their data.
  if (caller === 'olive') return [...own, ...Object.values(accounts).flatMap(({ marks }) => marks.filter(isWho))]
  if (caller === 'vera') return [...own, ...accounts.gus.marks.filter(isWho)]
  if (caller === 'gus') {
    const shared = accounts.vera.marks.filter((mark) => isWho(mark) || /^Camera0/.test(mark))
    return [...own, ...shared]
  }
  return [...own]
}
