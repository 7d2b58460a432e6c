// The fields for creating an account: name and password.

import type { NewAccount } from '../../auth/accounts/accounts-options.ts'
import { maxPersonNameLength, passwordLength } from '../../model/account-fault.ts'
import { drawField, type FormProblem } from './fields.ts'
import type { Form } from './form.ts'
import type { Html } from './html.ts'
import type { Texts } from './texts/texts.ts'

export function readNewPerson(form: Form): NewAccount {
  return {
    firstName: form.trimmed('first_name'),
    lastName: form.trimmed('last_name'),
    password: form.get('password'),
  }
}

/** Returns an error for each missing field. All other checks are made when the account is created. */
export function checkNewPerson(texts: Texts, form: Form): Record<string, string | undefined> {
  return {
    first_name: form.trimmed('first_name') === '' ? texts.problems.firstNameMissing : undefined,
    password: form.get('password') === '' ? texts.problems.newPasswordMissing : undefined,
  }
}

type NewPersonOptions = {
  /** The previous submission, if any. */
  readonly form: Form | undefined
  readonly problem: FormProblem | undefined
  readonly isFirst: boolean
  /**
   * A field for the email address, or the address itself. It is placed before the password, where password managers
   * look for it.
   */
  readonly account: Html
}

export function drawNewPerson(texts: Texts, { form, problem, isFirst, account }: NewPersonOptions): Html[] {
  const { fields } = texts
  return [
    drawField({
      name: 'first_name',
      label: fields.firstName,
      autocomplete: 'given-name',
      maxLength: maxPersonNameLength,
      value: form?.trimmed('first_name') ?? '',
      problem,
      isFirst,
    }),
    drawField({
      name: 'last_name',
      label: fields.lastName,
      autocomplete: 'family-name',
      maxLength: maxPersonNameLength,
      value: form?.trimmed('last_name') ?? '',
      problem,
      isOptional: true,
    }),
    account,
    drawNewPassword(texts, problem),
  ]
}

export type NewPasswordOptions = { readonly name?: string; readonly label?: string; readonly isFirst?: boolean }

/** The page needs the script `password`. */
export function drawNewPassword(
  texts: Texts,
  problem: FormProblem | undefined,
  { name = 'password', label = texts.fields.password, isFirst = false }: NewPasswordOptions = {},
): Html {
  return drawField({
    name,
    label,
    type: 'password',
    autocomplete: 'new-password',
    hint: texts.fields.passwordHint,
    newPassword: { showLabel: texts.fields.showPassword, strengths: texts.fields.passwordStrengths },
    minLength: passwordLength.min,
    problem,
    isFirst,
  })
}
