// A server, Chromium and signed-in users, shared by the tests of the dashboard.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { buildDashboard } from '../../scripts/build-web.ts'
import type { ServerUnderTest } from '../server-under-test.ts'
import { launchChromium } from './browser.ts'

const screenshots = fileURLToPath(new URL('./screenshots/', import.meta.url))
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Password of the account of the owner. */
const owner = { email: 'owner@example.com', password: 'correct horse' }

export type DashboardScene<Server = ServerUnderTest> = AsyncDisposable & {
  readonly server: Server
  /**
   * A separate browser in which nobody is signed in. It saves data, so the wall has images, unless `hasVideo`: pages of
   * many tests are open at once, and all of them would decode video.
   */
  openPage(options?: BrowserContextOptions & { readonly hasVideo?: boolean }): Promise<Page>
  /** Opens `path` by way of the sign-in page. */
  signIn(page: Page, path?: string, who?: { readonly email: string; readonly password: string }): Promise<void>
  /** Problems in pages: errors, violations of the content security policy, requests to other origins. */
  readonly complaints: readonly string[]
}

/** `launch` opens the server, for example `openServerHere`. */
export async function openDashboard<Server extends ServerUnderTest>(
  launch: () => Promise<Server>,
): Promise<DashboardScene<Server>> {
  await buildDashboard()
  const server = await launch()
  const browser = await launchChromium()
  const complaints: string[] = []
  return {
    server,
    complaints,

    async openPage({ hasVideo = false, ...options } = {}) {
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        viewport: { width: 1280, height: 860 },
        locale: 'en-US',
        timezoneId: 'Europe/Berlin',
        ...options,
      })
      if (!hasVideo) {
        await context.addInitScript("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
      }
      const page = await context.newPage()
      page.on('console', (message) => {
        if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('request', (request) => {
        const { origin } = new URL(request.url())
        if (origin !== new URL(server.url).origin && origin !== 'null')
          complaints.push(`request to another origin: ${request.url()}`)
      })
      return page
    },

    async signIn(page, path = '/', { email, password } = owner) {
      await page.goto(server.url + path)
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(server.url + path)
    },

    async [Symbol.asyncDispose]() {
      await browser.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Screenshots for people to look at; the folder is ignored by Git. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: `${screenshots}${name}.png` })
}

/** Checks that axe finds no violations and that nothing is wider than the window. */
export async function checkAccessible(page: Page): Promise<void> {
  const { width } = page.viewportSize()!
  const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  assert.ok(tooWide <= 0, `${page.url()} is ${tooWide} pixels too wide for ${width}`)
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
  assert.deepEqual(found, [], page.url())
}

/** Presses Tab until `name` has the focus; it must be reachable by keyboard. */
export async function tabTo(
  page: Page,
  role: 'link' | 'button' | 'textbox' | 'searchbox' | 'checkbox' | 'slider',
  name: string,
) {
  const target = page.getByRole(role, { name, exact: true })
  await target.waitFor()
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the keyboard does not reach ${role} "${name}"`)
}
