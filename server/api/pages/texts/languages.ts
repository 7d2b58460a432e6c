// Which language a page speaks: the one that its address asks for (`ui_locales`, OpenID Connect Core section 3.1.2.1), which the
// browser keeps for the pages that follow; else the one kept; else the first of the browser's own (RFC 9110 section 12.5.4) that there
// is; else English. What is sent only chooses from the list below, and is never repeated.

import { findCookie, writeCookie } from '../../../auth/sessions/cookie.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import type { Texts } from './texts.ts'

const languages: ReadonlyMap<string, Texts> = new Map([english, german].map((texts) => [texts.language, texts]))

export const languageTags: readonly string[] = [...languages.keys()]

const cookieName = 'language'

export type LanguageWish = {
  readonly query: URLSearchParams
  readonly cookieHeader: string | undefined
  readonly acceptLanguage: string | undefined
}

export function chooseTexts({ query, cookieHeader, acceptLanguage }: LanguageWish): Texts {
  return findAsked(query) ?? findKept(cookieHeader) ?? findAccepted(acceptLanguage) ?? english
}

/** Set-Cookie, until the browser is closed, when another language is asked for than is kept. */
export function writeLanguageCookie(query: URLSearchParams, cookieHeader: string | undefined): string | undefined {
  const asked = findAsked(query)
  return asked && asked !== findKept(cookieHeader) ? writeCookie(cookieName, asked.language) : undefined
}

function findAsked(query: URLSearchParams): Texts | undefined {
  return findFirst((query.get('ui_locales') ?? '').split(' '))
}

function findKept(cookieHeader: string | undefined): Texts | undefined {
  return languages.get(findCookie(cookieHeader, cookieName) ?? '')
}

/** The one of the highest weight; `*` is English. */
function findAccepted(header = ''): Texts | undefined {
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2)
    return { tag: tag === '*' ? 'en' : tag, weight: Number(weight ?? 1) }
  })
  const wanted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  return findFirst(wanted.map(({ tag }) => tag))
}

/** `de-AT` is German. */
function findFirst(tags: readonly string[]): Texts | undefined {
  for (const tag of tags) {
    const texts = languages.get(tag.split('-', 1)[0]!.toLowerCase())
    if (texts) return texts
  }
  return undefined
}
