// What all pages have in common: the session, protection against cross-site requests, headers, cookies and error pages.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimits } from '../../auth/guard/rate-limits.ts'
import type { LongPaths } from '../../auth/sessions/long-paths.ts'
import type { Session, Sessions } from '../../auth/sessions/sessions.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { RateLimitError } from '../../base/rate-limiter.ts'
import type { Users } from '../../store/accounts/users.ts'
import { writeRate } from '../answer.ts'
import { HttpError, type Problem, toProblem, writeProblem } from '../problem.ts'
import { sentBody } from '../request-body.ts'
import { compress, type StaticBytes, sendStatic } from '../static-bytes.ts'
import { contextOf } from '../transport/request-origin.ts'
import { createErrorPage, createOutdatedPage } from './error-page.ts'
import { type Form, maxFormBytes, readForm } from './form.ts'
import { describeFault } from './form-problem.ts'
import { writeDocument } from './layout.ts'
import { type Page, type PageAnswer, type PageCall, redirect, type ShownPage, type UserCall } from './page.ts'
import type { PageAssets } from './page-assets.ts'
import { createPageHeaders } from './page-headers.ts'
import { RepeatedRequests, type RepeatedRequestsOptions } from './repeated-requests.ts'
import { checkSameSite } from './same-site.ts'
import { english } from './texts/english.ts'
import { chooseTexts, writeLanguageCookie } from './texts/languages.ts'
import type { Texts } from './texts/texts.ts'
import { Visit } from './visit.ts'

export type PageRoutesOptions = {
  readonly pages: readonly Page[]
  readonly sessions: Pick<Sessions, 'find' | 'hasRecentProof'>
  readonly users: Pick<Users, 'find'>
  readonly limits: RateLimits
  readonly assets: PageAssets
  /** The origin of this server. Forms from other origins are rejected. */
  readonly publicUrl: string
  readonly clock: RepeatedRequestsOptions['clock']
  /** What answers refer to is in the database before they leave. */
  readonly longPaths: Pick<LongPaths, 'written'>
  readonly shared: RepeatedRequestsOptions['shared']
  readonly log: Logger
  /** Redirect to sign-in or to the password confirmation. The browser returns to the page afterwards. */
  readonly signInFirst: (call: PageCall) => PageAnswer
  readonly confirmFirst: (call: PageCall) => PageAnswer
  /** True if the session must set up a second factor first. `setUpFirst` redirects there. */
  readonly isSecondFactorMissing: (session: Session) => Promise<boolean>
  readonly setUpFirst: (call: PageCall) => PageAnswer
}

export function registerPageRoutes(server: FastifyInstance, options: PageRoutesOptions): void {
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const limits = { parseAs: 'buffer', bodyLimit: maxFormBytes } as const
    scope.addContentTypeParser('*', limits, (_request, bytes, done) => done(null, bytes))
    const openPaths = new Set(options.pages.filter((page) => page.takesForeignForms).map((page) => page.path))
    scope.addHook('onRequest', async (request) => {
      request.rate = options.limits.takeAddress(request.clientIp) ?? null
      const isOpen = openPaths.has(request.url.split('?', 1)[0]!)
      if (request.method === 'POST' && !isOpen) checkSameSite(request.headers, options.publicUrl)
    })
    scope.setErrorHandler((error, request, reply) => sendError(options, error, request, reply))
    const repeated = new RepeatedRequests({ clock: options.clock, shared: options.shared })
    for (const page of options.pages) registerPage(scope, page, repeated, options)
  })
}

function registerPage(
  scope: FastifyInstance,
  page: Page,
  repeated: RepeatedRequests,
  options: PageRoutesOptions,
): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const call = await createCall(request, options)
    const form = request.method === 'POST' ? readForm(sentBody(request)) : undefined
    const respond = () => ask(page, call, form, options)
    const content = form ? [call.url, sentBody(request).bytes ?? ''] : page.isRepeated && [call.url]
    const isRepeatable = content && form?.get('form_id') !== ''
    const answering = isRepeatable ? repeated.answer(content, call.cookieHeader, respond) : respond()
    const found = await answering.catch((error: unknown) => {
      // The session or the password changed during the request, and nothing was done. Reload the page with the new
      // state.
      if (error instanceof AppError && error.kind === 'unauthenticated') return redirect(call.url)
      throw error
    })
    await options.longPaths.written()
    return sendAnswer(options, call, found, request, reply)
  }
  const methods = page.post ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD']
  scope.route({ method: methods, url: page.path, exposeHeadRoute: false, handler: answer })
  // The general 405 response can be read by any origin, so pages send their own.
  const others = ['POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'].filter((method) => !methods.includes(method))
  scope.route({
    method: others,
    url: page.path,
    exposeHeadRoute: false,
    handler: () => {
      throw new HttpError(405, 'method_not_allowed', 'This page does not support the method of the request.', {
        allow: methods.join(', '),
      })
    },
  })
}

async function ask(
  page: Page,
  call: PageCall,
  form: Form | undefined,
  options: PageRoutesOptions,
): Promise<PageAnswer> {
  if (call.session?.needsSecondFactor && !page.isOpenWithoutSecondFactor) {
    if (await options.isSecondFactorMissing(call.session)) return options.setUpFirst(call)
  }
  if (page.audience === 'anyone') return form ? page.post!(call, form) : page.get(call)
  if (page.audience === 'anyone, then user' && !form) return page.get(call)
  const user = call.session && (await options.users.find(call.session.userId))
  if (!call.session || !user) return options.signInFirst(call)
  const userCall: UserCall = { ...call, session: call.session, user }
  if (form && !call.session.isFormToken(form.get('form_token'))) return createOutdatedPage(call)
  if (page.audience === 'user' && page.asksPassword && !options.sessions.hasRecentProof(call.session)) {
    return options.confirmFirst(call)
  }
  return form ? page.post!(userCall, form) : page.get(userCall as never)
}

async function createCall(request: FastifyRequest, { sessions }: PageRoutesOptions): Promise<PageCall> {
  const { cookie, accept } = request.headers
  return {
    context: contextOf(request),
    url: request.url,
    query: readQuery(request),
    cookieHeader: cookie,
    session: await sessions.find(cookie),
    visit: new Visit(cookie),
    texts: chooseTextsFor(request),
    wantsHtml: acceptsHtml(accept),
  }
}

/** Responses to programs are in English. */
function chooseTextsFor(request: FastifyRequest): Texts {
  const { accept, cookie, 'accept-language': acceptLanguage } = request.headers
  return acceptsHtml(accept)
    ? chooseTexts({ query: readQuery(request), cookieHeader: cookie, acceptLanguage })
    : english
}

const readQuery = ({ query }: FastifyRequest): URLSearchParams => new URLSearchParams(query as string)

/** Compressed documents by the page they were rendered from. */
const sharedPages = new WeakMap<ShownPage, StaticBytes>()

function sendAnswer(
  { assets }: PageRoutesOptions,
  call: PageCall,
  answer: PageAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (request.rate) reply.headers(writeRate(request.rate))
  if (answer.kind === 'json') {
    return sendJson(reply.code(answer.status).headers(createPageHeaders()), JSON.stringify(answer.body))
  }
  const { query, cookieHeader, visit, texts } = call
  const own = [visit.newCookie, writeLanguageCookie(query, cookieHeader)].filter((cookie) => cookie !== undefined)
  const cookies = [...(answer.cookies ?? []), ...own]
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  if (answer.kind === 'redirect') {
    const status = request.method === 'POST' ? 303 : 302
    return reply.code(status).headers(createPageHeaders()).header('location', answer.location).send()
  }
  if (answer.isShared) {
    let bytes = sharedPages.get(answer)
    if (!bytes) {
      bytes = compress('text/html; charset=utf-8', Buffer.from(writeDocument({ page: answer, assets, texts })))
      sharedPages.set(answer, bytes)
    }
    sendStatic(request, reply, bytes, {
      ...createPageHeaders(),
      ...(request.rate && writeRate(request.rate)),
      ...(cookies.length > 0 && { 'set-cookie': cookies }),
    })
    return reply
  }
  if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', String(answer.retryAfterSeconds))
  return reply
    .code(answer.status ?? 200)
    .headers(createPageHeaders(answer))
    .type('text/html; charset=utf-8')
    .send(writeDocument({ page: answer, assets, texts }))
}

function sendError(
  options: PageRoutesOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { assets, log } = options
  const problem = toProblem(error)
  if (error instanceof RateLimitError) request.rate = error.rate
  if (problem.status >= 500 && problem.status !== 503) {
    log.error({ path: request.url.split('?', 1)[0], reason: errorChain(error) }, 'a page could not be served')
  }
  reply.code(problem.status).headers(createPageHeaders()).headers(problem.headers)
  if (request.rate) reply.headers(writeRate(request.rate))
  if (!acceptsHtml(request.headers.accept)) return sendJson(reply, writeProblem(problem))
  const texts = chooseTextsFor(request)
  const page = createErrorPage(texts, problem, readableDetail(error, problem, texts))
  return reply.type('text/html; charset=utf-8').send(writeDocument({ page, assets, texts }))
}

/** Sent as bytes, because Fastify appends a charset to the content type of strings. */
function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.type('application/json').send(Buffer.from(json))
}

/** A description of the error for people, if there is one. */
function readableDetail(error: unknown, { detail }: Problem, texts: Texts): string | undefined {
  if (!(error instanceof AppError)) return undefined
  return error.kind === 'invalid' || error.kind === 'conflict' ? describeFault(error, texts, detail) : undefined
}

/** Browsers request HTML when a user follows a link or submits a form. Programs mostly accept anything. */
function acceptsHtml(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes('text/html') ?? false
}
