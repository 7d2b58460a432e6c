// The pages in the language of whoever reads them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicUrl } from '../../../test/support/api/temporary-api.ts'
import {
  openTemporaryPages,
  password,
  type Shown,
  type TemporaryPages,
  type TestBrowser,
  unescapeHtml,
} from '../../../test/support/api/temporary-pages.ts'
import { addApplication } from '../../../test/support/auth/temporary-oauth.ts'
import { createPages } from './pages.ts'
import { SignInService } from './sign-in-service.ts'
import { english } from './texts/english.ts'

const listPages = ({ deps }: TemporaryPages) => createPages(deps, new SignInService(deps), publicUrl)

function listSentences(texts: unknown): string[] {
  if (typeof texts === 'string') return texts.includes(' ') ? [texts] : []
  return typeof texts === 'object' && texts !== null ? Object.values(texts).flatMap(listSentences) : []
}

const sentences = listSentences(english)

/** All that is read or read out. What is marked as English may be. */
function readTexts(text: string): string {
  const body = text
    .replaceAll(/<div class="chapters" lang="en">.*?<\/div>\n<\/div>/gs, '')
    .replaceAll(/<(ul|details|span) lang="en">.*?<\/\1>/gs, '')
    .replaceAll(/ aria-label="([^"]*)"/g, '>$1<i')
  return unescapeHtml(body.replaceAll(/<[^>]*>/g, '\n'))
}

function checkGerman({ text }: Shown, about: string): void {
  assert.match(text, /^<!doctype html>\n<html lang="de">/, about)
  const words = readTexts(text)
  for (const sentence of sentences) assert.ok(!words.includes(sentence), `${about}: ${sentence}`)
  assert.doesNotMatch(words, /\b(the|your|you|and|with|this|is|of|to|for|not|has|by)\b/i, about)
}

const openGerman = (pages: TemporaryPages): TestBrowser => {
  const browser = pages.openBrowser()
  browser.headers['accept-language'] = 'de-DE,de;q=0.9,en;q=0.8'
  return browser
}

test('every page speaks German to a German browser, right or wrong, signed in or not', async (t) => {
  const pages = await openTemporaryPages(t, { signUp: 'open' })
  await pages.addPerson()
  const stranger = openGerman(pages)
  const user = openGerman(pages)
  await user.signIn()
  let seen = 0
  for (const { path, post } of listPages(pages)) {
    for (const [who, browser] of Object.entries({ stranger, user })) {
      const answers = [await browser.open(path), await browser.open(`${path}?token=x&client_id=y`)]
      // Each with the token of its page, where it has a form; nothing is filled in.
      await browser.open(path)
      const hasForm = post && path !== '/sign-out/' && browser.shown!.text.includes(`action="${path}"`)
      if (hasForm) answers.push(await browser.submit({ email: 'x', password: '', new_password: '' }, path))
      answers.push(await browser.post(path, {}), await browser.post(path, {}, { 'sec-fetch-site': 'cross-site' }))
      for (const shown of answers) {
        if (shown.location !== undefined) continue
        checkGerman(shown, `${who} ${shown.url} ${shown.status}`)
        seen++
      }
    }
  }
  assert.ok(seen > 60, String(seen))
})

test('what an application may do, and what is wrong with a form, is told in German', async (t) => {
  const pages = await openTemporaryPages(t)
  const browser = openGerman(pages)
  const code = await pages.accounts.signUps.createSetupCode()
  const person = { email: 'ada@example.org', first_name: 'Ada' }
  await browser.open('/set-up/')
  const told = async (fields: Record<string, string>, action = '') => {
    checkGerman(await browser.submit(fields, action), JSON.stringify(fields))
    return browser.shown!.text
  }
  assert.match(
    await told({ ...person, code: 'x', password }),
    /code-error">Der Einrichtungscode ist falsch oder abgelaufen/,
  )
  assert.match(await told({ ...person, code, password: 'short' }), /password-error">Das Passwort muss 8 bis 256/)
  assert.match(
    await told({ ...person, code, password: 'ada@example.org' }),
    /nicht mit der E-Mail-Adresse übereinstimmen/,
  )
  assert.match(await told({ ...person, code, password: 'password1' }), /zu leicht zu erraten/)
  assert.match(await told({ ...person, code, password, first_name: 'A'.repeat(151) }), /höchstens 150 Zeichen/)
  await browser.submit({ ...person, code, password })
  assert.equal(browser.shown!.url, '/account/')

  await browser.open('/account/password/')
  assert.match(
    await told({ password: 'wrong', new_password: `${password}!` }),
    /password-error">Das Passwort ist falsch/,
  )
  assert.match(await told({ password, new_password: 'short' }), /new_password-error">Das Passwort muss/)

  const user = (await pages.store.users.findByEmail('ada@example.org'))!
  await addApplication(pages.store, { ownerId: user.id, name: 'Klingel' })
  const preference = {
    response_type: 'code',
    client_id: 'app',
    redirect_uri: 'https://app.example/cb',
    scope: 'camera_access',
  }
  const consent = await browser.open(`/oauth/authorize/?${new URLSearchParams(preference)}`)
  checkGerman(consent, 'consent')
  assert.match(consent.text, /<li>Ihre Kameras und deren Livebilder ansehen<\/li>/)
  assert.match(consent.text, /bis Sie ihn widerrufen oder die Anwendung 30 Tage lang nicht verwendet wird/)
  // For whoever made the application, in the words of the interface.
  const refused = await browser.open(`/oauth/authorize/?${new URLSearchParams({ ...preference, client_id: 'nobody' })}`)
  assert.match(refused.text, /<span lang="en">Invalid client_id parameter value\.<\/span>/)
})

test('names stand in the quotation marks of the language', async (t) => {
  const pages = await openTemporaryPages(t)
  const inviter = await pages.addPerson()
  const cameraId = await pages.addCamera(inviter.id, 'Haustür')
  await pages.accounts.signUps.invite({ email: 'eve@example.org', inviterId: inviter.id, cameraId })
  await pages.accounts.flush()
  const { pathname, search } = new URL(/https:\S+/.exec(pages.mails.at(-1)!.text)![0])
  const german = await openGerman(pages).open(pathname + search)
  checkGerman(german, 'invitation')
  assert.match(german.text, /ada@example\.org hat die Kamera „Haustür“ mit Ihnen geteilt/)
  assert.match((await pages.openBrowser().open(pathname + search)).text, /shared the camera “Haustür” with you/)
})

test('without a language, or with one that there is not, pages are English; so are programs answered', async (t) => {
  const pages = await openTemporaryPages(t)
  await pages.addPerson()
  const plain = await pages.openBrowser().open('/reset/')
  assert.match(plain.text, /<html lang="en">.*Forgot your password\?/s)
  const french = pages.openBrowser()
  french.headers['accept-language'] = 'fr-FR,fr;q=0.9'
  const strip = ({ text }: Shown) => text.replaceAll(/ value="[^"]*"/g, '')
  assert.equal(strip(await french.open('/reset/?ui_locales=xx')), strip(plain))
  assert.equal(french.cookies.has('__Host-language'), false)
  const program = openGerman(pages)
  program.headers.accept = 'application/json'
  const { text } = await program.post('/sign-in/', {}, { 'sec-fetch-site': 'cross-site' })
  assert.deepEqual(JSON.parse(text).detail, 'This form was not sent from a page of this server.')
})

test('the language an application asks for is spoken on the pages that follow, forms and errors included', async (t) => {
  const pages = await openTemporaryPages(t)
  const user = await pages.addPerson()
  await addApplication(pages.store, { ownerId: user.id, name: 'Klingel' })
  const browser = pages.openBrowser()
  browser.headers['accept-language'] = 'en-GB'
  const preference = { response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb', scope: 'read' }
  const authorize = `/oauth/authorize/?${new URLSearchParams({ ...preference, ui_locales: 'nds de-AT en' })}`
  checkGerman(await browser.open(authorize), 'sign in')
  assert.match(browser.shown!.text, /weiter zu Klingel/)
  checkGerman(await browser.submit({ email: user.email, password: 'wrong' }), 'wrong')
  checkGerman(await browser.get('/reset/'), 'another page')
  checkGerman(await browser.post('/sign-in/', {}, { 'sec-fetch-site': 'cross-site' }), 'an error')
  await browser.open(authorize)
  checkGerman(await browser.submit({ email: user.email, password }), 'consent')
  // Until another one is asked for.
  assert.match((await browser.open('/account/?ui_locales=en')).text, /<html lang="en">/)
  assert.match((await browser.open('/account/')).text, /<html lang="en">/)
})
