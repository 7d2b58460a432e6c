// Accessibility of every page: no axe violations in light and dark, fits a phone, works without colors and at twice the
// text size.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type TestContext, test } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { codeAt, readSecret } from '../page-second-factors.ts'
import { openTemporaryPages, password, type TemporaryPages } from '../support/api/temporary-pages.ts'
import { addApplication } from '../support/auth/temporary-oauth.ts'
import { launchChromium } from './browser.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Look = (name: string) => Promise<void>

/** Visits all pages, most of them with valid and invalid input, and calls `look` on each. */
async function walk(page: Page, base: string, pages: TemporaryPages, look: Look): Promise<void> {
  const send = async () => {
    await page.evaluate("document.querySelector('main form:last-of-type').noValidate = true")
    // Wait for the response instead of inspecting the page that is being left.
    const answered = page.waitForEvent('load')
    await page.click('main form:last-of-type .button >> nth=0')
    await answered
  }
  const open = (path: string) => page.goto(base + path)
  const lastLink = async () => {
    await pages.accounts.flush()
    const { pathname, search } = new URL(/https:\S+/.exec(pages.mails.at(-1)!.text)![0])
    return pathname + search
  }

  await open('/')
  await look('set-up')
  const types = []
  for (let i = 0; i < 3; i++) {
    types.push(await page.getAttribute('#password', 'type'))
    await page.getByRole('button', { name: /Show password|Passwort anzeigen/ }).click()
  }
  assert.deepEqual(types, ['password', 'text', 'password'])
  for (const [typed, shown] of [
    ['Sommer2024!', /Too easy|Zu leicht/],
    ['vier nasse Fässer unter Linden', /Very strong|Sehr stark/],
  ] as const) {
    await page.fill('#password', typed)
    await page.locator('.strength', { hasText: shown }).waitFor()
  }
  await look('set-up, password shown')
  await send()
  await look('set-up, wrong')
  await open('/docs/')
  await look('docs')

  const user = await pages.addPerson()
  await addApplication(pages.store, { ownerId: user.id, name: 'Doorbell' })
  await open('/sign-in/')
  await look('sign in')
  await send()
  await look('sign in, wrong')
  await open('/sign-up/')
  await look('sign up')
  await open('/reset/')
  await look('reset')
  await page.fill('#email', user.email)
  await send()
  await look('reset, sent')
  await open(await lastLink())
  await look('new password')
  await send()
  await look('new password, wrong')
  await open('/reset/?token=x')
  await look('reset, bad link')
  await pages.accounts.signUps.invite({ email: `${'long.'.repeat(30)}name@example.org`, inviterId: user.id })
  await open(await lastLink())
  await look('invitation')
  await send()
  await look('invitation, wrong')
  await open('/invitation/?token=x')
  await look('invitation, bad link')
  const authorize = `/oauth/authorize/?${new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: 'https://app.example/cb',
    scope: 'camera_access recording_access event_manage',
  })}`
  await open(authorize.replace('app.example', 'evil.example'))
  await look('foreign address')

  await open(authorize)
  await page.fill('#email', user.email)
  await page.fill('#password', password)
  await send()
  await look('consent')
  await open('/account/?done=session')
  await look('account')
  await open('/account/password/')
  await look('change password')
  await send()
  await look('change password, wrong')
  await open('/account/email/')
  await look('change address')
  await page.fill('#email', 'ada@new.example')
  await page.fill('#password', password)
  await send()
  await look('change address, sent')
  await open(await lastLink())
  await look('confirm address')
  await open('/email/?token=x')
  await look('new address, bad link')
  await open('/account/tokens/')
  await page.fill('#name', 'Backup')
  await send()
  await look('tokens')
  await open('/confirm/')
  await look('confirm')
  await open('/account/second-factor/')
  await look('second factor, none')
  await open('/account/second-factor/app/')
  await look('authenticator app')
  const secret = readSecret(await page.content())
  await page.fill('#code', '000000')
  await send()
  await look('authenticator app, wrong')
  await page.fill('#code', codeAt(secret, Date.now()))
  await send()
  await look('recovery codes')
  await open('/account/second-factor/')
  await look('second factor')
  await open('/sign-out/')
  await look('sign out')
  await send()
  await page.fill('#email', user.email)
  await page.fill('#password', password)
  await send()
  await look('second step')
  await page.fill('#code', '000000')
  await send()
  await look('second step, wrong')
}

async function walkWith(
  t: TestContext,
  options: object,
  look: (page: Page, name: string) => Promise<void>,
): Promise<number> {
  const pages = await openTemporaryPages(t, { signUp: 'open' })
  const port = await pages.api.listen({ host: '127.0.0.1', port: 0 })
  const browser = await launchChromium()
  t.after(() => browser.close())
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true, ...options })).newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/the server responded with a status of 4/.test(message.text()))
      errors.push(message.text())
  })
  let count = 0
  await walk(page, `https://127.0.0.1:${port}`, pages, async (name) => {
    assert.deepEqual(errors, [], name)
    await look(page, name)
    count++
  })
  return count
}

for (const [colorScheme, locale] of [
  ['light', 'en-US'],
  ['dark', 'de-DE'],
] as const) {
  test(`axe finds nothing on any page, ${colorScheme}, ${locale}`, async (t) => {
    const options = { colorScheme, locale, viewport: { width: 1280, height: 800 } }
    const count = await walkWith(t, options, async (page, name) => {
      assert.equal(await page.getAttribute('html', 'lang'), locale.slice(0, 2), name)
      await page.evaluate(axeSource)
      const { violations, incomplete, passes } = await page.evaluate<AxeResults>(
        'axe.run(document, { resultTypes: ["violations"] })',
      )
      const findings = [...violations, ...incomplete].map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
      )
      // axe cannot determine contrast in front of an image; the name is white on dark.
      assert.deepEqual(
        findings.filter((text) => !/^color-contrast: <span>Nightjar<\/span>$/.test(text)),
        [],
        name,
      )
      assert.ok(passes.length > 10)
    })
    assert.ok(count >= 25)
  })
}

// German has longer words.
test('every page fits a phone of 320 pixels, and touch targets are large enough', async (t) => {
  const options = { locale: 'de-DE', viewport: { width: 320, height: 568 }, isMobile: true, hasTouch: true }
  await walkWith(t, options, async (page, name) => {
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 320, `${name} is too wide`)
    // WCAG 2.2, 2.5.8: 24 by 24 pixels; links in sentences are exempt.
    const small = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('button, input:not([type=hidden]):not(.away), a.button')]
      .filter((e) => !e.closest('.check') || e.tagName !== 'INPUT')
      .filter((e) => { const { width, height } = e.getBoundingClientRect(); return width < 24 || height < 24 })
      .map((e) => e.outerHTML)`)
    assert.deepEqual(small, [], name)
    const zoomed = await page.evaluate<number>(`(() => {
      document.documentElement.style.fontSize = '200%'
      const { scrollWidth } = document.documentElement
      document.documentElement.style.fontSize = ''
      return scrollWidth
    })()`)
    assert.ok(zoomed <= 320, `${name} is too wide at twice the size: ${zoomed}`)
  })
})

test('errors are visible without style sheet and without colors', async (t) => {
  await walkWith(t, { forcedColors: 'active' }, async (page, name) => {
    if (!name.endsWith('wrong')) return
    assert.match(await page.title(), /^Error: /)
    const invalid = await page.locator('[aria-invalid=true]').all()
    assert.ok(invalid.length > 0, name)
    for (const field of invalid) {
      const ids = (await field.getAttribute('aria-describedby'))!.split(' ')
      assert.match(String(await page.textContent(`#${ids[0]}`)), /\.$/)
    }
    const focused = await page.evaluate<string | null>('document.activeElement.getAttribute("aria-invalid")')
    assert.equal(focused, 'true', `${name}: focus`)
  })
})
