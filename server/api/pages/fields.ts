// Parts of forms: fields with a label, a hint and an error, buttons, and notices. Errors are shown beside the field and
// are associated with it for screen readers (WCAG 2.2: 1.3.5, 3.3.1, 3.3.2).

import { randomBytes } from 'node:crypto'
import { type Html, html } from './html.ts'

/** The errors of a submitted form: by field, and for the form as a whole. */
export type FormProblem = {
  readonly fields?: Readonly<Record<string, string | undefined>>
  readonly notice?: string | undefined
}

export type FieldOptions = {
  readonly name: string
  readonly label: string
  /** Tells browsers and password managers how to fill the field in; see "autofill" in the HTML standard. */
  readonly autocomplete: string
  readonly type?: 'text' | 'email' | 'password'
  readonly hint?: string | undefined
  /** The value that was submitted before. Never set for passwords. */
  readonly value?: string
  readonly problem?: FormProblem | undefined
  readonly isOptional?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  /**
   * For a new password: the label of a button that shows it, and words for its strength from 0 to 3. They need the script
   * `password` of the page.
   */
  readonly newPassword?: { readonly showLabel: string; readonly strengths: readonly string[] }
  /** True if this field gets the focus. A field with an error takes precedence. */
  readonly isFirst?: boolean
}

export function drawField(options: FieldOptions): Html {
  const { name, label, autocomplete, type = 'text', hint, value, problem, minLength, maxLength = 256 } = options
  const error = problem?.fields?.[name]
  const hasFocus = error === undefined ? options.isFirst && !hasFieldErrors(problem) : isFirstError(name, problem)
  const describedBy = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean)
  // Keyboards of phones must not correct values that are not prose.
  const allowsAutocorrect = type === 'text' && autocomplete.endsWith('name')
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${maxLength}"${minLength !== undefined && html` minlength="${minLength}"`}${value !== undefined && value !== '' && html` value="${value}"`}${!options.isOptional && html` required`}${!allowsAutocorrect && html` autocapitalize="none" spellcheck="false"`}${error !== undefined && html` aria-invalid="true"`}${describedBy.length > 0 && html` aria-describedby="${describedBy.join(' ')}"`}${hasFocus && html` autofocus`}>
${options.newPassword && drawPasswordHelp(name, options.newPassword)}
</div>`
}

function drawPasswordHelp(name: string, { showLabel, strengths }: NonNullable<FieldOptions['newPassword']>): Html {
  return html`<p class="hint strength" data-rates="${name}" data-words="${strengths.join('|')}" role="status" hidden><meter max="4" low="2" high="3" optimum="4" aria-hidden="true"></meter> <span></span></p>
<input type="button" class="link" data-shows="${name}" aria-pressed="false" value="${showLabel}" hidden>`
}

export function drawCheckbox(options: { name: string; label: string; hint?: string; isChecked: boolean }): Html {
  const { name, label, hint, isChecked } = options
  return html`<div class="check">
<input id="${name}" name="${name}" type="checkbox" value="yes"${hint !== undefined && html` aria-describedby="${name}-hint"`}${isChecked && html` checked`}>
<label for="${name}">${label}</label>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`
}

/** A message about the whole form. Screen readers announce it when the page opens. */
export function drawNotice(text: string | undefined, kind: 'bad' | 'good' = 'bad'): Html | undefined {
  if (text === undefined) return undefined
  return kind === 'bad'
    ? html`<p class="notice notice-bad" role="alert">${text}</p>`
    : html`<p class="notice notice-good" role="status">${text}</p>`
}

/** A hidden username field for password managers, for forms of an account that is already known. */
export function drawUsername(email: string): Html {
  return html`<input class="away" type="email" name="username" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">`
}

export type FormOptions = {
  readonly action: string
  /** The form token of the session or the visit. */
  readonly formToken: string
  readonly hidden?: Readonly<Record<string, string | undefined>>
  readonly content: Html | readonly (Html | undefined)[]
  readonly className?: string
  /** Additional attributes of the form element. */
  readonly attributes?: Readonly<Record<string, string>>
}

export function drawForm({ action, formToken, hidden = {}, content, className, attributes = {} }: FormOptions): Html {
  // The number tells a form that is sent twice from the same entries in another one; see repeated-requests.ts.
  const form_id = randomBytes(9).toString('base64url')
  const values = Object.entries({ form_token: formToken, form_id, ...hidden }).filter(
    ([, value]) => value !== undefined,
  )
  return html`<form method="post" action="${action}"${className !== undefined && html` class="${className}"`}${Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)}>
${values.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${content}
</form>`
}

export function drawButton(label: string): Html {
  return html`<button class="button">${label}</button>`
}

function hasFieldErrors(problem: FormProblem | undefined): boolean {
  return Object.values(problem?.fields ?? {}).some((error) => error !== undefined)
}

function isFirstError(name: string, problem: FormProblem | undefined): boolean {
  return Object.entries(problem?.fields ?? {}).find(([, error]) => error !== undefined)?.[0] === name
}
