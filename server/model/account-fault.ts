// Errors in what users enter about themselves and their account. Each has a code, so that pages can translate it, and
// an English message.

import { AppError } from '../base/error.ts'

export const passwordLength = { min: 8, max: 256 } as const
export const maxPersonNameLength = 150
/** Internal causes that users cannot distinguish. */
export const maxPersonalTokens = 100
export const maxPasskeys = 20

export const accountFaults = {
  account_exists: 'There is already an account for this address.',
  identity_taken: 'This account at the provider signs in to another account here.',
  identity_other: 'Another account at this provider signs in here already; remove that link first.',
  last_way_in: 'Nothing else signs in to this account: choose a password first.',
  name_length: `Ensure this field has no more than ${maxPersonNameLength} characters.`,
  name_characters: 'A name has no control characters.',
  password_length: `The password must have ${passwordLength.min} to ${passwordLength.max} characters.`,
  password_is_email: 'The password must not be the e-mail address.',
  password_common: 'This password is too easy to guess. Use a longer one, for example a few unrelated words.',
  password_none:
    'This account has no password: have a link sent that chooses one, or sign in with the provider in a browser.',
  password_wrong: 'This is not your password.',
  app_code_wrong: 'This is not the code that the app shows. Check the clock of the device.',
  app_exists: 'There is an authenticator app already; remove it first.',
  passkey_wrong: 'The browser’s answer did not fit. Please try again.',
  passkey_exists: 'This passkey is in use already.',
  passkeys_too_many: `There are ${maxPasskeys} passkeys already; remove one that is not needed.`,
  second_factor_required: 'An owner of this server needs a second factor; add another before removing this one.',
  second_factor_elsewhere: 'The account has a second factor: this is done in the dashboard, which asks for it.',
  setup_code_wrong: 'This is not the set-up code, or it has expired.',
  set_up_already: 'This server is set up already.',
  set_up_not_yet: 'This server is not set up yet.',
  tokens_too_many: `There are ${maxPersonalTokens} tokens already; revoke one that is not needed.`,
} as const

export type AccountFault = keyof typeof accountFaults

/** 'invalid'; `field` is the invalid field. */
export function invalidAccount(fault: AccountFault, field?: string): AppError {
  const message = accountFaults[fault]
  return new AppError('invalid', message, { fault, ...(field !== undefined && { fields: { [field]: [message] } }) })
}

export function conflictingAccount(fault: AccountFault, cause?: unknown): AppError {
  return new AppError('conflict', accountFaults[fault], { fault, ...(cause !== undefined && { cause }) })
}
