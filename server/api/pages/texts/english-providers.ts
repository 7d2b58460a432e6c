// What pages say about identity providers, in English.

export const englishProviders = {
  signInWith: (provider: string) => `Sign in with ${provider}`,
  deniedTitle: 'Not signed in',
  denied: (provider: string) => `${provider} did not let you in, or you said no there. Nothing was changed.`,
  staleTitle: 'This sign-in cannot be finished',
  stale: 'It was begun in another browser or more than ten minutes ago, or was finished already. Please begin again.',
  unavailableTitle: (provider: string) => `${provider} cannot be reached`,
  unavailable: 'Please try again in a moment, or sign in with your password.',
  invalidTitle: (provider: string) => `What ${provider} answered does not hold`,
  invalid: 'You were not signed in. If it happens again, tell whoever runs this server.',
  refusedTitle: 'You cannot sign in like this',
  refused: {
    disabled: 'Your account on this server is shut. Ask its owner.',
    address_not_verified: (provider: string) =>
      `${provider} does not vouch for your e-mail address. Confirm it there first, or sign in with your password.`,
    other_person_linked: (provider: string) =>
      `There is an account with your e-mail address, but another account at ${provider} signs in to it. Sign in with your password, and remove that link in your settings.`,
    sign_up_closed: 'You have no account on this server, and only its owner makes new ones. Ask the owner for one.',
    not_invited:
      'You have no account on this server, and nobody has invited you. Ask somebody who has an account, or the owner, for an invitation to your e-mail address.',
    conflict: 'Somebody else was faster. Please try again.',
  },
  yourAddress: (email: string) => `Your address there: ${email}`,
  back: 'To the sign-in page',
  proveTitle: 'You have an account already',
  prove: (email: string, provider: string) =>
    `There is an account for ${email} on this server. Sign in to it as before, once; then you can link it with ${provider}.`,
  proveButton: 'Continue to sign in',
  askTitle: (provider: string) => `Link your account with ${provider}?`,
  ask: (email: string, provider: string) =>
    `From then on, the account ${email} at ${provider} signs in to your account here.`,
  askUnnamed: (provider: string) => `From then on, your account at ${provider} signs in to your account here.`,
  askButton: 'Link',
  notNow: 'Not now',
  otherTitle: 'You are signed in to another account',
  other: (email: string) => `You are signed in as ${email}, which is not the account this is about.`,
  otherButton: 'Sign in as somebody else',
  title: 'Linked accounts',
  text: 'Whoever signs in to one of these accounts gets into yours here.',
  none: 'No account elsewhere signs in to yours.',
  gone: 'not in use on this server any more',
  linkedAt: (ago: string) => `linked ${ago}`,
  unlink: 'Remove',
  unlinkOf: (provider: string) => `Remove the link with ${provider}`,
  link: (provider: string) => `Link with ${provider}`,
  done: {
    linked: 'The account is linked.',
    unlinked: 'The link is removed. All other browsers are signed out.',
  },
  confirm: 'You have no password here. Please sign in again to continue.',
  notFreshTitle: 'You have to sign in there once more',
  notFresh: (provider: string) =>
    `${provider} does not say that you have just signed in. Try again, or choose a password for your account here.`,
  passwordTitle: 'Choose a password',
  passwordText: (email: string) =>
    `Your account has no password so far. We will send a link to ${email}, with which you choose one. All your browsers and applications will be signed out then.`,
  passwordButton: 'Send link',
} as const
