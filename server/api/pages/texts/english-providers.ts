// The English texts about identity providers.

export const englishProviders = {
  signInWith: (provider: string) => `Sign in with ${provider}`,
  deniedTitle: 'You are not signed in',
  denied: (provider: string) => `${provider} did not sign you in, or you canceled there. Nothing was changed.`,
  staleTitle: 'This sign-in has expired',
  stale: 'It was started in another browser or more than ten minutes ago, or it was already completed. Start again.',
  unavailableTitle: (provider: string) => `${provider} is unavailable`,
  unavailable: 'Try again in a moment, or sign in with your password.',
  invalidTitle: (provider: string) => `The response from ${provider} is not valid`,
  invalid: 'You were not signed in. If this happens again, contact the administrator of this server.',
  refusedTitle: 'You cannot sign in this way',
  refused: {
    disabled: 'Your account on this server is disabled. Contact the owner of the server.',
    address_not_verified: (provider: string) =>
      `${provider} has not verified your email address. Verify it there first, or sign in with your password.`,
    other_person_linked: (provider: string) =>
      `An account with your email address exists, but it is linked to a different account at ${provider}. Sign in with your password and remove that link in your settings.`,
    sign_up_closed: 'You do not have an account on this server. Ask the owner of the server to create one for you.',
    not_invited:
      'You do not have an account on this server, and you have not been invited. Ask the owner of the server or another user to invite your email address.',
    conflict: 'Your account was changed at the same time. Try again.',
  },
  yourAddress: (email: string) => `Your email address there: ${email}`,
  back: 'Back to sign-in',
  proveTitle: 'You already have an account',
  prove: (email: string, provider: string) =>
    `An account for ${email} already exists on this server. Sign in as usual. After that, you can link it to your account at ${provider}.`,
  proveButton: 'Continue to sign-in',
  askTitle: (provider: string) => `Link your account to ${provider}?`,
  ask: (email: string, provider: string) =>
    `You will be able to sign in here with the account ${email} at ${provider}.`,
  askUnnamed: (provider: string) => `You will be able to sign in here with your account at ${provider}.`,
  askButton: 'Link',
  notNow: 'Not now',
  otherTitle: 'You are signed in to a different account',
  other: (email: string) => `You are signed in as ${email}, but this page is for a different account.`,
  otherButton: 'Use a different account',
  title: 'Linked accounts',
  text: 'Anyone who can sign in to one of these accounts can also sign in to your account here.',
  none: 'No linked accounts.',
  gone: 'no longer available on this server',
  linkedAt: (ago: string) => `linked ${ago}`,
  unlink: 'Remove',
  unlinkOf: (provider: string) => `Remove the link to ${provider}`,
  link: (provider: string) => `Link ${provider}`,
  done: {
    linked: 'The account has been linked.',
    unlinked: 'The link has been removed. All other browsers have been signed out.',
  },
  confirm: 'Your account has no password. Sign in again to continue.',
  notFreshTitle: 'You need to sign in again',
  notFresh: (provider: string) =>
    `${provider} did not confirm that you have just signed in. Try again, or set a password for your account here.`,
  passwordTitle: 'Set a password',
  passwordText: (email: string) =>
    `Your account does not have a password yet. We will send a link to ${email} that lets you set one. When you set it, you will be signed out of all browsers and applications.`,
  passwordButton: 'Send link',
} as const
