import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { english } from './english.ts'
import { german } from './german.ts'
import { chooseTexts, languageTags, writeLanguageCookie } from './languages.ts'

type Sent = { readonly asked?: string; readonly kept?: string; readonly accepted?: string }

const choose = ({ asked, kept, accepted }: Sent): string =>
  chooseTexts({
    query: new URLSearchParams(asked === undefined ? {} : { ui_locales: asked }),
    cookieHeader: kept === undefined ? undefined : `__Host-visit=x; __Host-language=${kept}`,
    acceptLanguage: accepted,
  }).language

test('what the browser accepts counts by its weights, English where there is nothing else', () => {
  for (const [accepted, language] of [
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['de-CH-1996', 'de'],
    ['den', 'en'],
    ['fr-FR, fr;q=0.9', 'en'],
    ['fr, de;q=0.1', 'de'],
    ['de;q=0.5, en;q=0.8', 'en'],
    ['en;q=0.5,de;q=0.8', 'de'],
    ['en ; Q=0.5 , de ; Q=0.8', 'de'],
    ['de, en', 'de'],
    ['en, de', 'en'],
    ['de;q=0, fr', 'en'],
    ['de;q=0.000, *;q=0.1', 'en'],
    ['fr, *;q=0.5, de;q=0.4', 'en'],
    ['de;q=x', 'en'],
    ['de;q=', 'en'],
    [';q=1,,;', 'en'],
    ['__proto__, constructor, de', 'de'],
  ] as const) {
    assert.equal(choose({ ...(accepted !== undefined && { accepted }) }), language, accepted)
  }
})

test('what an address asks for goes before what is kept, and that before what the browser accepts', () => {
  assert.equal(choose({ asked: 'de', kept: 'en', accepted: 'en' }), 'de')
  assert.equal(choose({ asked: 'fr-CA de en', accepted: 'en' }), 'de')
  assert.equal(choose({ asked: 'fr', kept: 'de', accepted: 'en' }), 'de')
  assert.equal(choose({ kept: 'en', accepted: 'de' }), 'en')
  assert.equal(choose({ kept: 'fr', accepted: 'de' }), 'de')
  assert.equal(choose({ asked: '', kept: '', accepted: 'de' }), 'de')
})

test('only a language that is asked for, that there is, and that is not kept yet, is kept', () => {
  const write = (asked: string, kept?: string) =>
    writeLanguageCookie(new URLSearchParams({ ui_locales: asked }), kept && `__Host-language=${kept}`)
  const cookie = '__Host-language=de; Path=/; Secure; HttpOnly; SameSite=Lax'
  assert.equal(write('de-DE'), cookie)
  assert.equal(write('de', 'en'), cookie)
  assert.equal(write('de', 'x'), cookie)
  assert.equal(write('de', 'de'), undefined)
  assert.equal(write('fr'), undefined)
  assert.equal(writeLanguageCookie(new URLSearchParams(), undefined), undefined)
})

test('whatever is sent, one of the languages is chosen, and nothing else is kept', () => {
  const tag = fc.oneof(fc.string(), fc.constantFrom('de', 'en', 'de;q=1', 'x; Path=/', 'de\r\nSet-Cookie: a=b'))
  fc.assert(
    fc.property(tag, tag, tag, (asked, kept, accepted) => {
      assert.ok(languageTags.includes(choose({ asked, kept, accepted })))
      const cookie = writeLanguageCookie(new URLSearchParams({ ui_locales: asked }), `__Host-language=${kept}`)
      assert.match(cookie ?? '__Host-language=en; Path=/', /^__Host-language=(en|de); Path=\//)
    }),
  )
})

test('every text is there in German, and none was left in English', () => {
  // A word of both languages, and what has no language.
  const same = [
    'productName',
    'tokens.name',
    'secondStep.code',
    'secondFactor.passkeys',
    'secondFactor.passkeyName',
    'authenticatorApp.code',
    'certificate.steps.1.0',
    'certificate.steps.2.0',
    'certificate.steps.3.0',
  ]
  const compare = (en: unknown, de: unknown, path: string): void => {
    assert.equal(typeof de, typeof en, path)
    if (typeof en === 'string') {
      assert.notEqual((de as string).trim(), '', path)
      if (!same.includes(path)) assert.notEqual(de, en, path)
    } else if (typeof en === 'object') {
      assert.deepEqual(Object.keys(de as object), Object.keys(en as object), path)
      for (const [key, value] of Object.entries(en as object)) {
        compare(value, (de as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`)
      }
    }
  }
  compare(english, german, '')
})

test('numbers and times are told as each language does', () => {
  assert.deepEqual(
    [20_000, 60_000, 3 * 3_600_000, 26 * 3_600_000].map((ms) => [english.ago(ms), german.ago(ms)]),
    [
      ['just now', 'gerade eben'],
      ['1 minute ago', 'vor 1 Minute'],
      ['3 hours ago', 'vor 3 Stunden'],
      ['yesterday', 'gestern'],
    ],
  )
  assert.match(english.problems.tooMany(120), /in 2 minutes\.$/)
  assert.match(german.problems.tooMany(120), /in 2 Minuten noch einmal\.$/)
  assert.match(german.errors.byStatus(429, 1).advice, /in einer Sekunde/)
  assert.equal(
    english.consent.lasts(30, 365),
    'until you revoke it or the application is not used for 30 days, but no longer than 365 days',
  )
  assert.equal(
    german.consent.lasts(1, undefined),
    'bis Sie ihn widerrufen oder die Anwendung einen Tag lang nicht verwendet wird',
  )
})
