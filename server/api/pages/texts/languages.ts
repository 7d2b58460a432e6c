// Chooses the language of a page. In this order: `ui_locales` in the query (OpenID Connect Core section 3.1.2.1), which
// a cookie remembers for the next pages; the cookie; the first supported language in Accept-Language (RFC 9110 section
// 12.5.4); English. The request only selects from the supported languages and is never repeated in the response.

import { findCookie, writeCookie } from '../../../auth/sessions/cookie.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import type { Texts } from './texts.ts'

const languages: ReadonlyMap<string, Texts> = new Map([english, german].map((texts) => [texts.language, texts]))

export const languageTags: readonly string[] = [...languages.keys()]

const cookieName = 'language'

export type LanguagePreference = {
  readonly query: URLSearchParams
  readonly cookieHeader: string | undefined
  readonly acceptLanguage: string | undefined
}

export function chooseTexts({ query, cookieHeader, acceptLanguage }: LanguagePreference): Texts {
  return findAsked(query) ?? findKept(cookieHeader) ?? findAccepted(acceptLanguage) ?? english
}

/** Returns a session cookie (Set-Cookie) if the requested language differs from the remembered one. */
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

/** Returns the supported language with the highest weight. `*` stands for English. */
function findAccepted(header = ''): Texts | undefined {
  const ranges = header.split(',').map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2)
    return { tag: tag === '*' ? 'en' : tag, weight: Number(weight ?? 1) }
  })
  const wanted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  return findFirst(wanted.map(({ tag }) => tag))
}

/** Regional variants use the base language: `de-AT` is German. */
function findFirst(tags: readonly string[]): Texts | undefined {
  for (const tag of tags) {
    const texts = languages.get(tag.split('-', 1)[0]!.toLowerCase())
    if (texts) return texts
  }
  return undefined
}
