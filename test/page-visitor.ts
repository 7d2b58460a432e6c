// A browser without scripts, for pages of a running server: it keeps cookies, follows redirects on the server and sends forms as they
// stand in the page.

import type { Answer, ServerUnderTest } from './server-under-test.ts'
import { readForms } from './support/api/temporary-pages.ts'

export type VisitedPage = Pick<Answer, 'status' | 'text' | 'headers'> & {
  readonly path: string
  readonly location: string | undefined
}

export class PageVisitor {
  readonly #server: ServerUnderTest
  readonly #cookies = new Map<string, string>()
  shown: VisitedPage | undefined

  constructor(server: ServerUnderTest) {
    this.#server = server
  }

  /** The header with all that was kept, as it is sent. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async signIn(email: string, password: string): Promise<VisitedPage> {
    await this.open('/sign-in/')
    return this.submit({ email, password })
  }

  async open(path: string): Promise<VisitedPage> {
    return this.#follow(await this.#ask('GET', path))
  }

  /** The form whose action begins with `action` (default: the first), with `fields` over what stands in it. */
  async submit(fields: Readonly<Record<string, string>>, action = ''): Promise<VisitedPage> {
    const form = readForms(this.shown!.text).find((found) => found.action.startsWith(action))
    if (!form) throw new Error(`no form ${action} in:\n${this.shown!.text}`)
    return this.post(form.action, { ...form.fields, ...fields })
  }

  async post(path: string, form: Readonly<Record<string, string>>): Promise<VisitedPage> {
    return this.#follow(await this.#ask('POST', path, form))
  }

  async #follow(page: VisitedPage): Promise<VisitedPage> {
    let now = page
    for (let hops = 0; now.location?.startsWith('/'); hops++) {
      if (hops > 5) throw new Error(`redirected for ever: ${now.location}`)
      now = await this.#ask('GET', now.location)
    }
    return now
  }

  async #ask(method: string, path: string, form?: Readonly<Record<string, string>>): Promise<VisitedPage> {
    const { cookie } = this
    const { origin } = new URL(this.#server.url)
    const headers = {
      accept: 'text/html',
      ...(cookie !== '' && { cookie }),
      ...(form && { origin, 'sec-fetch-site': 'same-origin' }),
    }
    const answer = await this.#server.request(path, { method, headers, authorization: null, ...(form && { form }) })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair, ...attributes] = line.split('; ')
      const [name, value] = pair!.split(/=(.*)/s) as [string, string]
      if (attributes.includes('Max-Age=0')) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const location = answer.headers.location as string | undefined
    this.shown = { status: answer.status, text: answer.text, headers: answer.headers, path, location }
    return this.shown
  }
}
