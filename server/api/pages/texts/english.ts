// The pages in English.

import { accountFaults, passwordLength } from '../../../model/account-fault.ts'
import { scopeWords } from '../../../model/oauth/scope-descriptions.ts'
import { createAgo } from './ago.ts'
import { englishProviders } from './english-providers.ts'

export const english = {
  language: 'en',
  productName: 'Nightjar',
  tagline: 'Your cameras, on your own server.',
  errorPrefix: 'Error:',
  /** Around names. */
  quotationMarks: ['“', '”'],

  fields: {
    email: 'E-mail address',
    password: 'Password',
    newPassword: 'New password',
    currentPassword: 'Current password',
    firstName: 'First name',
    lastName: 'Last name',
    setUpCode: 'Set-up code',
    passwordHint: `At least ${passwordLength.min} characters. A few unrelated words are easy to remember and hard to guess.`,
  },

  problems: {
    emailMissing: 'Enter your e-mail address.',
    emailWrong: 'Enter an e-mail address, like name@example.com.',
    passwordMissing: 'Enter your password.',
    newPasswordMissing: 'Choose a password.',
    firstNameMissing: 'Enter your first name.',
    codeMissing: 'Enter the set-up code.',
    passwordWrong: 'The password is wrong.',
    signInWrong: 'The e-mail address or the password is wrong.',
    secondFactorMissing: 'Enter the code.',
    secondFactorWrong:
      'This code is wrong, or was used before. The authenticator app shows a new one every 30 seconds.',
    passkeyWrong: 'That did not work. Please try again, or sign in another way.',
    outdated: 'This page had been open for too long. Please try again.',
    tooMany: (seconds: number) => `There were too many attempts. Please try again in ${duration(seconds)}.`,
    busy: 'The server is very busy. Please try again in a moment.',
  },

  faults: accountFaults,

  signIn: {
    title: 'Sign in',
    forApp: (appName: string) => `to continue to ${appName}`,
    button: 'Sign in',
    passkey: 'Sign in with a passkey',
    forgot: 'Forgot your password?',
    signUp: 'Create an account',
    done: {
      signedOut: 'You are signed out.',
      passwordChanged: 'Your password is changed. Sign in with the new one.',
      late: 'That took too long. Please sign in again.',
    },
  },

  passkeys: {
    failed: 'The browser found no passkey for this, or you cancelled.',
  },

  secondStep: {
    title: 'One more step',
    text: (email: string) => `Please confirm that you are ${email}.`,
    passkey: 'Use a passkey',
    code: 'Code',
    codeHint: 'The six digits that your authenticator app shows now, or one of your recovery codes.',
    recoveryHint: 'One of your recovery codes.',
    button: 'Continue',
    lost: 'Lost all of them? Whoever runs this server can remove your second factor.',
    back: 'Sign in as somebody else',
  },

  secondFactor: {
    title: 'Second factor',
    textOn: 'Your password alone does not open your account: a passkey, or a code, is asked for too.',
    textOff:
      'With a second factor, your password alone no longer opens your account. Other signed-in browsers will be signed out; applications and personal access tokens keep working.',
    needed: 'On this server, owners need a second factor. Please set one up to continue.',
    passkeys: 'Passkeys',
    passkeysText: 'A phone, a computer or a security key that unlocks with your fingerprint, face or PIN.',
    noPasskeys: 'Passkeys work only where this server is reached by a name, not by an address in numbers.',
    noScript: 'Passkeys need JavaScript, and a browser that knows them.',
    passkeyName: 'Name',
    passkeyNameHint: 'To recognize it, for instance “My phone”.',
    nameless: 'Passkey without a name',
    addPasskey: 'Add a passkey',
    app: 'Authenticator app',
    appText: 'An app on your phone that shows a new six-digit code every 30 seconds.',
    addApp: 'Add an authenticator app',
    addedAgo: (ago: string) => `added ${ago}`,
    usedAgo: (ago: string) => `last used ${ago}`,
    remove: 'Remove',
    removeOf: (name: string) => `Remove ${name}`,
    codes: 'Recovery codes',
    codesLeft: (count: number) =>
      `For when you have nothing else. ${count === 1 ? 'One code is' : `${count} codes are`} left; each can be used once.`,
    newCodes: 'Make new codes',
    owners: 'Owners of this server',
    ownersNeed: 'Owners need a second factor: without one, they are asked to set one up when they sign in.',
    ownersFree: 'Owners may sign in without a second factor.',
    askOwners: 'Require it of all owners',
    freeOwners: 'Require it no longer',
    done: {
      added: 'The second factor is added.',
      removed: 'The second factor is removed.',
      required: 'From now on, owners need a second factor.',
      notRequired: 'Owners need no second factor any more.',
    },
  },

  authenticatorApp: {
    title: 'Add an authenticator app',
    text: 'Scan this QR code with your authenticator app.',
    picture: 'QR code for the authenticator app',
    typed: 'Or type this key into the app:',
    code: 'Code',
    codeHint: 'The six digits that the app shows now.',
    button: 'Add',
  },

  recoveryCodes: {
    title: 'Your recovery codes',
    text: 'With one of these codes you can sign in when you have no passkey and no authenticator app at hand. Each can be used once.',
    once: 'Print them or write them down, and keep them in a safe place. They are not shown again.',
    next: 'I have kept them',
  },

  signOut: {
    title: 'Sign out',
    text: (name: string) => `You are signed in as ${name}.`,
    button: 'Sign out',
    stay: 'Stay signed in',
  },

  consent: {
    title: (appName: string) => `Let ${appName} in?`,
    asks: (appName: string) => `${appName} asks to use your account here. It will be able to:`,
    owner: 'Made by',
    target: 'Takes you to',
    lifetime: 'Lasts',
    lasts: (idleDays: number, mostDays: number | undefined) => {
      const idle = `until you end it, or the application has not been used for ${days(idleDays)}`
      return mostDays === undefined ? idle : `${idle}; at most ${days(mostDays)}`
    },
    account: 'Signed in as',
    notYou: 'Use another account',
    caution: 'Only allow what you trust. You can end this at any time on the page of your account.',
    allow: 'Allow',
    deny: 'Don’t allow',
    changed: 'The application was changed in the meantime. Go back to it and start again.',
  },

  scopes: scopeWords,

  setUp: {
    title: 'Set up your server',
    text: 'Create the account that owns this server. The set-up code is printed on its console.',
    button: 'Create account',
  },

  invitation: {
    title: 'You are invited',
    text: 'Create your account on this server.',
    textFrom: (inviter: string) => `${inviter} invites you to an account on this server.`,
    textShared: (inviter: string, camera: string | undefined) =>
      `${inviter} shares ${camera === undefined ? 'a camera' : `the camera ${camera}`} with you. Create an account to see it.`,
    forEmail: 'Your account will be for',
    button: 'Create account',
    memberTitle: 'You have an account',
    member: (email: string) => `There is an account for ${email} already. Sign in to see what is shared with you.`,
    invalidTitle: 'This invitation cannot be used',
    invalid:
      'It was used before, has expired, or was replaced by a newer one. Ask the person who invited you for another.',
  },

  signUp: {
    title: 'Create an account',
    text: 'We will send you a link to continue with.',
    button: 'Send link',
    sentTitle: 'Look at your mail',
    sent: (email: string) => `If an account can be made for ${email}, a link is on its way.`,
  },

  resetRequest: {
    title: 'Forgot your password?',
    text: 'Enter the e-mail address of your account. We will send you a link to choose a new password.',
    button: 'Send link',
    sentTitle: 'Look at your mail',
    sent: (email: string) =>
      `If there is an account for ${email}, a link to choose a new password is on its way. It can be used for one hour.`,
    sentHint: 'Nothing there? Look among the spam, or try again in a few minutes.',
    back: 'Back to sign in',
  },

  reset: {
    title: 'Choose a new password',
    text: 'All your browsers and applications will be signed out.',
    revokeTokens: 'Also revoke my personal access tokens',
    revokeTokensHint: 'Tick this if somebody else may have had access to your account.',
    button: 'Change password',
    invalidTitle: 'This link cannot be used',
    invalid: 'It was used before or has expired.',
    another: 'Send another link',
  },

  email: {
    requestTitle: 'Change e-mail address',
    requestText: (email: string) => `Your address is ${email}. We will send a link to the new one.`,
    requestButton: 'Send link',
    newAddress: 'New e-mail address',
    sentTitle: 'Look at your mail',
    sent: (email: string) => `A link is on its way to ${email}. Your address stays as it is until you open it.`,
    back: 'Back to your account',
    title: 'Confirm your new address',
    text: (email: string, former: string) =>
      `Your address is ${former}. From then on, you sign in as ${email}, and other browsers and applications have to sign in again.`,
    button: 'Confirm address',
    doneTitle: 'Address changed',
    done: 'From now on, sign in with the new address.',
    otherTitle: 'This link belongs to another account',
    other: (email: string) => `You are signed in as ${email}. Sign in to the account that asked for the new address.`,
    otherButton: 'Sign in as somebody else',
    invalidTitle: 'This link cannot be used',
    invalid: 'It was used before or has expired.',
  },

  confirm: {
    title: 'Confirm it’s you',
    text: 'Please enter your password again to continue.',
    button: 'Continue',
  },

  providers: englishProviders,

  account: {
    title: 'Your account',
    signOut: 'Sign out',
    changePassword: 'Change password',
    changeEmail: 'Change e-mail address',
    apps: 'Applications with access',
    noApps: 'No application has access to your account.',
    endApp: 'End access',
    endAppOf: (name: string) => `End the access of ${name}`,
    browsers: 'Signed-in browsers',
    thisBrowser: 'this browser',
    endBrowser: 'Sign out',
    endBrowserOf: (name: string) => `Sign out ${name}`,
    endOthers: 'Sign out all others',
    lastUsed: 'last used',
    unknownBrowser: 'Unknown browser',
    browserOn: (browser: string, system: string) => `${browser} on ${system}`,
    done: {
      password: 'Your password is changed. All other browsers and applications are signed out.',
      app: 'The application has no access any more.',
      session: 'The browser is signed out.',
      sessions: 'All other browsers are signed out.',
      shared: 'Your account is ready, and the camera is among your shared cameras.',
    },
  },

  tokens: {
    title: 'Personal access tokens',
    text: 'A token lets a program of your own see and change your cameras. It does not expire, so keep it like a password.',
    docs: 'How programs use it.',
    made: 'This is your new token. Copy it now: it is not shown again.',
    another: 'A new token',
    name: 'Name',
    nameHint: 'What it is for.',
    nameMissing: 'Enter a name.',
    withAccount: 'It may also manage my account',
    withAccountHint:
      'Tokens, applications and sign-ins, and the accounts of others if you own this server. Only for programs that need it.',
    nameless: 'Without a name',
    button: 'Create token',
    revoke: 'Revoke',
    revokeOf: (name: string) => `Revoke ${name}`,
    revoked: 'The token is revoked.',
    lastUsed: (ago: string) => `last used ${ago}`,
    neverUsed: 'never used',
    back: 'Back to your account',
  },

  password: {
    title: 'Change password',
    text: 'All other browsers and applications will be signed out.',
    revokeTokens: 'Also revoke my personal access tokens',
    button: 'Change password',
    cancel: 'Cancel',
  },

  docs: {
    title: 'API',
    lead: 'Everything this server can be asked by programs, and how. For programs themselves:',
    contents: 'Contents',
  },

  errors: {
    home: 'Go to the start page',
    again: 'Try again',
    outdatedTitle: 'This page is out of date',
    outdated: 'You have signed in or out since it was shown. Nothing was changed.',
    authorizeTitle: 'This application cannot sign you in',
    authorizeAdvice: 'Something is wrong with the address that brought you here. Tell whoever made the application:',
    ownAddressTitle: 'Open it at its own address',
    ownAddress: 'This server is set up to be reached at',
    ownAddressAdvice:
      'If that does not lead here, whoever runs the server sets its option public-url to the address that does, and starts it again.',
    byStatus: (status: number, retryAfterSeconds: number) => describeStatus(status, retryAfterSeconds),
  },

  /** How long ago: "yesterday", "5 minutes ago". */
  ago: createAgo('en', 'just now'),
} as const

function duration(seconds: number): string {
  if (seconds <= 1) return 'a second'
  if (seconds < 90) return `${seconds} seconds`
  return `${Math.ceil(seconds / 60)} minutes`
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`
}

function describeStatus(status: number, retryAfterSeconds: number): { title: string; advice: string } {
  switch (status) {
    case 403:
      return { title: 'Not allowed', advice: 'This was not sent from a page of this server, so nothing was done.' }
    case 404:
      return { title: 'Page not found', advice: 'There is no page at this address.' }
    case 405:
      return { title: 'Not possible', advice: 'This address cannot be used in that way.' }
    case 413:
      return { title: 'Too much', advice: 'What was sent is too long.' }
    case 429:
      return { title: 'Too many requests', advice: `Please try again in ${duration(retryAfterSeconds)}.` }
    case 503:
      return { title: 'Not available', advice: 'The server cannot answer at the moment. Please try again soon.' }
    default:
      return status >= 500
        ? { title: 'Something went wrong', advice: 'This is not your fault. The server has noted what happened.' }
        : { title: 'This did not work', advice: 'The request could not be read.' }
  }
}
