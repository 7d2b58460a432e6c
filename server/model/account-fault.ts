// Errors in what users enter about themselves and their account. Each has a code, so that pages can translate it, and
// an English message.

import { AppError } from '../base/error.ts'

export const passwordLength = { min: 8, max: 256 } as const
export const maxPersonNameLength = 150
export const maxPersonalTokens = 100
export const maxPasskeys = 20

export const accountFaults = {
  account_exists: 'An account with this email address already exists.',
  identity_taken: 'This account at the provider is already linked to another account on this server.',
  identity_other: 'Your account is already linked to another account at this provider. Remove that link first.',
  last_way_in: 'This is the only way to sign in to this account. Set a password first.',
  name_length: `The name must not be longer than ${maxPersonNameLength} characters.`,
  name_characters: 'The name must not contain control characters.',
  password_length: `The password must be ${passwordLength.min} to ${passwordLength.max} characters long.`,
  password_is_email: 'The password must not be the email address.',
  password_common: 'This password is too easy to guess. Use a longer one, for example a few unrelated words.',
  password_none:
    'This account has no password. Request a link to set one, or sign in with the identity provider in a browser.',
  password_wrong: 'The password is incorrect.',
  app_code_wrong: 'The code is incorrect. Check that the clocks of your device and of the server are right.',
  app_exists: 'An authenticator app is already set up. Remove it first.',
  passkey_wrong: 'The passkey could not be verified. Try again.',
  passkey_exists: 'This passkey is already in use.',
  passkeys_too_many: `You already have ${maxPasskeys} passkeys. Remove one that you no longer need.`,
  second_factor_required:
    'Owners of this server must have a second factor. Add another one before you remove this one.',
  second_factor_elsewhere:
    'This account is protected by a second factor. Make this change in a browser, which asks for the second factor.',
  setup_code_wrong: 'The setup code is incorrect or has expired.',
  set_up_already: 'This server is already set up.',
  set_up_not_yet: 'This server has not been set up yet.',
  tokens_too_many: `You already have ${maxPersonalTokens} tokens. Revoke one that you no longer need.`,
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
