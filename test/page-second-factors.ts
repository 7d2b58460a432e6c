// Second factors of test accounts, as people set them up with the pages.

import { computeHotp, stepAt } from '../server/auth/second-factor/totp.ts'
import { SoftwareAuthenticator } from './software-authenticator.ts'
import { publicUrl } from './support/api/temporary-api.ts'
import { type TestBrowser, unescapeHtml } from './support/api/temporary-pages.ts'

export const ownPath = '/account/second-factor/'
export const appPath = '/account/second-factor/app/'

export type App = { readonly secret: Uint8Array; readonly recoveryCodes: readonly string[] }

/** In a browser that is signed in. */
export async function addApp(browser: TestBrowser, nowMs: number): Promise<App> {
  await browser.open(appPath)
  const secret = readSecret(browser.shown!.text)
  await browser.submit({ code: codeAt(secret, nowMs) }, appPath)
  return { secret, recoveryCodes: readCodes(browser.shown!.text) }
}

export function codeAt(secret: Uint8Array, nowMs: number): string {
  return computeHotp(secret, stepAt(nowMs))
}

export function readSecret(text: string): Uint8Array {
  const typed = /<p class="secret"><code>([A-Z2-7 ]+)<\/code>/.exec(text)![1]!.replaceAll(' ', '')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...typed].map((digit) => alphabet.indexOf(digit).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}

export function readCodes(text: string): string[] {
  return [...text.matchAll(/<li><code>([0-9A-Z-]{23})<\/code><\/li>/g)].map(([, code]) => code!)
}

/** What the page that the browser shows asks its passkeys. */
export function readOptions({ shown }: TestBrowser) {
  const [, text] = /data-options="([^"]*)"/.exec(shown!.text) ?? []
  if (text === undefined) throw new Error(`no passkey is asked for in:\n${shown!.text}`)
  return JSON.parse(unescapeHtml(text))
}

/** In a browser that is signed in. */
export async function addPasskey(browser: TestBrowser, name = 'Key'): Promise<SoftwareAuthenticator> {
  const authenticator = new SoftwareAuthenticator(publicUrl)
  await browser.open(ownPath)
  await sendPasskey(browser, authenticator.create(readOptions(browser)), { name })
  return authenticator
}

/** The form of the page that the script would send. */
export function sendPasskey(browser: TestBrowser, passkey: string, more: Record<string, string> = {}) {
  const { text } = browser.shown!
  const form = /<form method="post" action="([^"]*)"[^>]*data-passkey[^>]*>(.*?)<\/form>/s.exec(text)!
  const fields = [...form[2]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
  const sent = Object.fromEntries(fields.map(([, name, value]) => [name!, unescapeHtml(value!)]))
  return browser.send(unescapeHtml(form[1]!), { ...sent, ...more, passkey })
}
