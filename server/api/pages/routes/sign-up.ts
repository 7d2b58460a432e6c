// Sign-up, if everyone may create an account. The link to continue is sent by email, which proves that the user owns
// the address.

import type { PagesDeps } from '../deps.ts'
import { createEmailForm } from '../email-form.ts'
import type { Page } from '../page.ts'
import { signUpPath } from '../paths.ts'

export function createSignUpPage({ accounts, hasMailServer }: Pick<PagesDeps, 'accounts' | 'hasMailServer'>): Page {
  const form = createEmailForm({
    path: signUpPath,
    autocomplete: 'email',
    texts: ({ signUp }) => signUp,
    hasMailServer,
    send: (email, context) => accounts.signUps.requestSignUp(email, context),
  })
  return { path: signUpPath, audience: 'anyone', get: async (call) => form.show(call), post: form.post }
}
