// A form that is sent twice, because somebody clicked twice on a slow line, and a link that a browser fetched in advance:
// the browser shows only the second answer. It gets the first one again, so that a code or a question is not used up.

import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { SealedBox } from '../../base/sealed-box.ts'
import type { KeptValues } from '../../store/server/kept-values.ts'
import { Html } from './html.ts'
import type { PageAnswer } from './page.ts'

export type RepeatedRequestsOptions = {
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs' | 'sleep'>
  /** Where other servers find the answer, if there can be others; `key` has 32 bytes and is used for nothing else. */
  readonly shared?: { readonly rows: KeptValues; readonly key: Uint8Array } | undefined
}

const lifetimeMs = 10_000
const maxEntries = 1000
/** Another server answers in this time, or was killed. */
const patienceMs = 10_000
const lookIntervalMs = 50

type Entry = { readonly answer: Promise<PageAnswer>; readonly cookies: readonly string[]; untilMs: number }

/** What other servers find. */
type Shared = { readonly answer: PageAnswer; readonly cookies: readonly string[] }

export class RepeatedRequests {
  readonly #options: RepeatedRequestsOptions
  readonly #box: SealedBox | undefined
  /** By the digest of the request, oldest first. */
  readonly #entries = new Map<string, Entry>()

  constructor(options: RepeatedRequestsOptions) {
    this.#options = options
    this.#box = options.shared && new SealedBox(options.shared.key)
  }

  /**
   * `content`: the URL and what was sent, which contains something that others cannot guess, such as the number of a form.
   * Only a browser that sends one of the same cookies gets the answer again.
   */
  async answer(
    content: readonly (string | Uint8Array)[],
    cookieHeader: string | undefined,
    respond: () => Promise<PageAnswer>,
  ): Promise<PageAnswer> {
    const { clock } = this.#options
    const cookies = readCookies(cookieHeader)
    if (cookies.length === 0) return respond()
    const nowMs = clock.monotonicMs()
    const digest = createDigest(content)
    const known = this.#entries.get(digest)
    if (known && nowMs < known.untilMs && isSameBrowser(known, cookies)) return known.answer
    this.#forget(nowMs)
    const answer = this.#respondOnce(`request ${digest}`, cookies, respond)
    const entry: Entry = { answer, cookies, untilMs: Number.POSITIVE_INFINITY }
    this.#entries.delete(digest)
    this.#entries.set(digest, entry)
    const keep = (ms: number) => {
      entry.untilMs = clock.monotonicMs() + ms
    }
    entry.answer.then(
      // Who sees an error and tries again wants a new answer.
      (answer) => keep(isError(answer) ? 0 : lifetimeMs),
      () => keep(0),
    )
    return entry.answer
  }

  /** With the answer of another server, if that got the same request. */
  async #respondOnce(
    name: string,
    cookies: readonly string[],
    respond: () => Promise<PageAnswer>,
  ): Promise<PageAnswer> {
    const { clock, shared } = this.#options
    if (!shared) return respond()
    const { rows } = shared
    const nowMs = clock.nowMs()
    if (!(await rows.claim(name, nowMs, nowMs + patienceMs))) return this.#awaitOther(name, cookies, respond)
    const share = (answer: PageAnswer | undefined) =>
      answer === undefined || isError(answer)
        ? rows.remove(name)
        : rows.put(name, this.#box!.seal(writeShared({ answer, cookies }), name), clock.nowMs() + lifetimeMs)
    let answer: PageAnswer | undefined
    try {
      answer = await respond()
      return answer
    } finally {
      // What was done is done: who waits at another server does it again, and this browser gets its answer.
      await share(answer).catch(() => {})
    }
  }

  async #awaitOther(name: string, cookies: readonly string[], respond: () => Promise<PageAnswer>): Promise<PageAnswer> {
    const { clock, shared } = this.#options
    for (;;) {
      const kept = await shared!.rows.find(name, clock.nowMs())
      // It was an error, or its server is gone.
      if (!kept) return respond()
      if (kept.sealed) {
        const found = readShared(this.#box!.unseal(kept.sealed, name))
        return isSameBrowser(found, cookies) ? found.answer : respond()
      }
      await clock.sleep(lookIntervalMs)
    }
  }

  #forget(nowMs: number): void {
    for (const [digest, { untilMs }] of this.#entries) {
      if (nowMs < untilMs && this.#entries.size < maxEntries) break
      this.#entries.delete(digest)
    }
  }
}

function isError(answer: PageAnswer): boolean {
  return answer.kind !== 'redirect' && (answer.status ?? 200) >= 400
}

const isSameBrowser = (known: Pick<Entry, 'cookies'>, cookies: readonly string[]): boolean =>
  known.cookies.some((cookie) => cookies.includes(cookie))

function writeShared({ answer, cookies }: Shared): string {
  return JSON.stringify({
    answer: answer.kind === 'page' ? { ...answer, content: String(answer.content), isShared: undefined } : answer,
    cookies,
  })
}

/** It was sealed by a server, so its HTML is the server's. */
function readShared(text: string): Shared {
  const { answer, cookies } = JSON.parse(text)
  return { answer: answer.kind === 'page' ? { ...answer, content: Html.trusted(answer.content) } : answer, cookies }
}

/** Those that belong to this browser alone. */
function readCookies(header = ''): string[] {
  return header.split(';').map((pair) => pair.trim()).filter((pair) => /^__Host-(session|visit)/.test(pair)) // biome-ignore format: one line
}

function createDigest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} `).update(part)
  return hash.digest('base64url')
}
