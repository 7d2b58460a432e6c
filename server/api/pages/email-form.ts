// The form that asks for an email address and sends a link to it: for sign-up and forgotten passwords.

import type { RequestContext } from '../../auth/request-context.ts'
import { parseEmail } from '../../model/email.ts'
import { drawButton, drawField, drawForm, drawNotice, type FormProblem } from './fields.ts'
import type { Form } from './form.ts'
import { toRefusal } from './form-problem.ts'
import { html } from './html.ts'
import type { PageAnswer, PageCall, ShownPage } from './page.ts'
import { signInPath } from './paths.ts'
import type { Texts } from './texts/texts.ts'

export type EmailFormOptions = {
  /** The URL that the form is sent to. */
  readonly path: string
  readonly autocomplete: 'email' | 'username'
  texts(texts: Texts): {
    readonly title: string
    readonly text: string
    readonly button: string
    readonly sentTitle: string
    readonly sent: (email: string) => string
    readonly sentHint?: string
  }
  readonly hasMailServer: boolean
  /** Throws errors that `toRefusal` can show. */
  send(email: string, context: RequestContext): Promise<void>
}

export function createEmailForm({ path, autocomplete, texts: choose, hasMailServer, send }: EmailFormOptions) {
  const show = ({ texts, visit }: PageCall, email = '', problem?: FormProblem): ShownPage => {
    const { title, text, button } = choose(texts)
    const field = drawEmailField(texts, { autocomplete, value: email, problem, isFirst: true })
    return {
      kind: 'page',
      title,
      content: html`<p>${text}</p>
${drawNotice(problem?.notice ?? (hasMailServer ? undefined : texts.resetRequest.noMailServer))}
${drawForm({ action: path, formToken: visit.formToken, content: [field, drawButton(button)] })}
<p class="aside"><a href="${signInPath}">${texts.resetRequest.back}</a></p>`,
    }
  }

  const post = async (call: PageCall, form: Form): Promise<PageAnswer> => {
    const { problems, resetRequest } = call.texts
    const email = form.trimmed('email')
    const refuse = (status: number, problem: FormProblem): ShownPage => ({ ...show(call, email, problem), status })
    if (!call.visit.isFormToken(form.get('form_token'))) return refuse(403, { notice: problems.outdated })
    const problem = findEmailProblem(email, call.texts)
    if (problem !== undefined) return refuse(400, { fields: { email: problem } })
    try {
      await send(email, call.context)
    } catch (error) {
      const { status, problem, retryAfterSeconds } = toRefusal(error, call.texts)
      return { ...refuse(status, problem), retryAfterSeconds }
    }
    const { title, sentTitle, sent, sentHint } = choose(call.texts)
    return {
      kind: 'page',
      title: hasMailServer ? sentTitle : title,
      content: html`<p>${hasMailServer ? sent(email) : resetRequest.noMailServer}</p>
${hasMailServer && sentHint !== undefined && html`<p class="hint">${sentHint}</p>`}
<p class="aside"><a href="${signInPath}">${resetRequest.back}</a></p>`,
    }
  }
  return { show, post }
}

type EmailField = {
  readonly label?: string
  readonly autocomplete: 'email' | 'username'
  readonly value: string
  readonly problem: FormProblem | undefined
  readonly isFirst?: boolean
}

export function drawEmailField(texts: Texts, { label = texts.fields.email, ...rest }: EmailField) {
  return drawField({ name: 'email', label, type: 'email', maxLength: 254, ...rest })
}

/** Returns a message if the email address is missing or invalid. */
export function findEmailProblem(email: string, { problems }: Texts): string | undefined {
  if (email === '') return problems.emailMissing
  return isEmail(email) ? undefined : problems.emailWrong
}

function isEmail(text: string): boolean {
  try {
    return parseEmail(text) !== ''
  } catch {
    return false
  }
}
