// A form that is sent twice, because somebody clicked twice on a slow line, and a link that a browser fetched in advance:
// the browser shows only the second answer. It gets the first one again, so that a code or a question is not used up.

import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { PageAnswer } from './page.ts'

const lifetimeMs = 10_000
const maxEntries = 1000

type Entry = { readonly answer: Promise<PageAnswer>; readonly cookies: readonly string[]; untilMs: number }

export class RepeatedRequests {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** By the digest of the request, oldest first. */
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
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
    const cookies = readCookies(cookieHeader)
    if (cookies.length === 0) return respond()
    const nowMs = this.#clock.monotonicMs()
    const digest = createDigest(content)
    const known = this.#entries.get(digest)
    if (known && nowMs < known.untilMs && known.cookies.some((cookie) => cookies.includes(cookie))) return known.answer
    this.#forget(nowMs)
    const entry: Entry = { answer: respond(), cookies, untilMs: Number.POSITIVE_INFINITY }
    this.#entries.delete(digest)
    this.#entries.set(digest, entry)
    const keep = (ms: number) => {
      entry.untilMs = this.#clock.monotonicMs() + ms
    }
    entry.answer.then(
      // Who sees an error and tries again wants a new answer.
      (answer) => keep(isError(answer) ? 0 : lifetimeMs),
      () => keep(0),
    )
    return entry.answer
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

/** Those that belong to this browser alone. */
function readCookies(header = ''): string[] {
  return header.split(';').map((pair) => pair.trim()).filter((pair) => /^__Host-(session|visit)/.test(pair)) // biome-ignore format: one line
}

function createDigest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} `).update(part)
  return hash.digest('base64url')
}
