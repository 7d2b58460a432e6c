// What can be wrong with what people say of themselves and their account: a name for each fault, so that pages can tell it in other
// languages, and a sentence in English.

import { AppError } from '../base/error.ts'

export const passwordLength = { min: 8, max: 256 } as const
export const maxPersonNameLength = 150
/** More are not for people, who cannot tell them apart. */
export const maxPersonalTokens = 100

export const accountFaults = {
  account_exists: 'There is already an account for this address.',
  name_length: `Ensure this field has no more than ${maxPersonNameLength} characters.`,
  name_characters: 'A name has no control characters.',
  password_length: `The password must have ${passwordLength.min} to ${passwordLength.max} characters.`,
  password_is_email: 'The password must not be the e-mail address.',
  password_common: 'This password is among those that are guessed first.',
  password_wrong: 'This is not your password.',
  setup_code_wrong: 'This is not the set-up code, or it has expired.',
  set_up_already: 'This server is set up already.',
  set_up_not_yet: 'This server is not set up yet.',
  tokens_too_many: `There are ${maxPersonalTokens} tokens already; revoke one that is not needed.`,
} as const

export type AccountFault = keyof typeof accountFaults

/** 'invalid'; `field`: the one that is to blame. */
export function invalidAccount(fault: AccountFault, field?: string): AppError {
  const message = accountFaults[fault]
  return new AppError('invalid', message, { fault, ...(field !== undefined && { fields: { [field]: [message] } }) })
}

export function conflictingAccount(fault: AccountFault): AppError {
  return new AppError('conflict', accountFaults[fault], { fault })
}
