// The English texts of the account pages.

import { accountFaults, passwordLength } from '../../../model/account-fault.ts'
import { scopeDescriptions } from '../../../model/oauth/scope-descriptions.ts'
import { createAgo } from './ago.ts'
import { englishProviders } from './english-providers.ts'

export const english = {
  language: 'en',
  productName: 'Nightjar',
  tagline: 'Your cameras, on your own server.',
  errorPrefix: 'Error:',
  /** Placed around names. */
  quotationMarks: ['“', '”'],

  fields: {
    email: 'Email address',
    password: 'Password',
    newPassword: 'New password',
    currentPassword: 'Current password',
    firstName: 'First name',
    lastName: 'Last name',
    setUpCode: 'Setup code',
    showPassword: 'Show password',
    passwordStrengths: ['Too easy to guess', 'Acceptable', 'Strong', 'Very strong'],
    passwordHint: `At least ${passwordLength.min} characters. A few unrelated words are easy to remember and hard to guess.`,
  },

  problems: {
    emailMissing: 'Enter your email address.',
    emailWrong: 'Enter a valid email address, such as name@example.com.',
    passwordMissing: 'Enter your password.',
    newPasswordMissing: 'Enter a new password.',
    firstNameMissing: 'Enter your first name.',
    codeMissing: 'Enter the setup code.',
    passwordWrong: 'The password is incorrect.',
    signInWrong: 'The email address or password is incorrect.',
    secondFactorMissing: 'Enter the code.',
    secondFactorWrong:
      'The code is incorrect or has already been used. Your authenticator app shows a new code every 30 seconds.',
    passkeyWrong: 'Your passkey could not be verified. Try again, or use another way to sign in.',
    outdated: 'This page has expired. Try again.',
    tooMany: (seconds: number) => `Too many attempts. Try again in ${duration(seconds)}.`,
    busy: 'The server is busy. Try again in a moment.',
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
      signedOut: 'You have been signed out.',
      passwordChanged: 'Your password has been changed. Sign in with your new password.',
      late: 'Your sign-in has expired. Sign in again.',
    },
  },

  passkeys: {
    failed: 'No matching passkey was found, or the request was canceled.',
  },

  secondStep: {
    title: 'Two-factor authentication',
    text: (email: string) => `Confirm that you are ${email}.`,
    passkey: 'Use a passkey',
    code: 'Code',
    codeHint: 'Enter the six-digit code from your authenticator app, or one of your recovery codes.',
    recoveryHint: 'Enter one of your recovery codes.',
    button: 'Continue',
    lost: 'Lost your passkeys, your app and your recovery codes? Ask the administrator of this server to remove your second factor.',
    back: 'Use a different account',
  },

  secondFactor: {
    title: 'Two-factor authentication',
    textOn: 'Two-factor authentication is on. To sign in with your password, you also need a passkey or a code.',
    textOff:
      'Protect your account with a passkey or a code in addition to your password. When you turn this on, your other browsers are signed out. Applications and personal access tokens keep working.',
    needed: 'Owners of this server must use two-factor authentication. Set it up to continue.',
    passkeys: 'Passkeys',
    passkeysText: 'Sign in with a phone, computer or security key that you unlock with your fingerprint, face or PIN.',
    noPasskeys: 'Passkeys are not available because this server is reached at an IP address instead of a domain name.',
    noScript: 'Passkeys require JavaScript and a browser that supports them.',
    passkeyName: 'Name',
    passkeyNameHint: 'For example, “My phone”.',
    nameless: 'Unnamed passkey',
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
      `Use a recovery code when you cannot use a passkey or your authenticator app. You have ${count === 1 ? '1 code' : `${count} codes`} left. Each code works once.`,
    newCodes: 'Generate new codes',
    owners: 'Owners of this server',
    ownersNeed:
      'Owners must use two-factor authentication. Owners who have not set it up are asked to do so when they sign in.',
    ownersFree: 'Two-factor authentication is optional for owners.',
    askOwners: 'Require it for all owners',
    freeOwners: 'Make it optional',
    done: {
      added: 'The second factor was added.',
      removed: 'The second factor was removed.',
      required: 'Owners must now use two-factor authentication.',
      notRequired: 'Two-factor authentication is now optional for owners.',
    },
  },

  authenticatorApp: {
    title: 'Add an authenticator app',
    text: 'Scan this QR code with your authenticator app.',
    qrCode: 'QR code for the authenticator app',
    typed: 'Or enter this key in the app:',
    code: 'Code',
    codeHint: 'Enter the six-digit code that the app shows.',
    button: 'Add',
  },

  recoveryCodes: {
    title: 'Your recovery codes',
    text: 'You can sign in with one of these codes when you cannot use a passkey or your authenticator app. Each code works once.',
    download: 'Save as a file',
    once: 'Print the codes or write them down, and keep them in a safe place. You cannot see them again.',
    next: 'I have saved my codes',
  },

  signOut: {
    title: 'Sign out',
    text: (name: string) => `You are signed in as ${name}.`,
    button: 'Sign out',
    stay: 'Stay signed in',
  },

  consent: {
    title: (appName: string) => `Allow ${appName} to access your account?`,
    asks: (appName: string) => `${appName} wants to access your account. It will be able to:`,
    owner: 'Registered by',
    target: 'Redirects to',
    lifetime: 'Access lasts',
    lasts: (idleDays: number, mostDays: number | undefined) => {
      const idle = `until you revoke it or the application is not used for ${days(idleDays)}`
      return mostDays === undefined ? idle : `${idle}, but no longer than ${days(mostDays)}`
    },
    account: 'Signed in as',
    notYou: 'Use a different account',
    caution: 'Only allow applications that you trust. You can revoke access at any time on your account page.',
    allow: 'Allow',
    deny: 'Deny',
    changed: 'The application was changed in the meantime. Return to the application and start again.',
  },

  scopes: scopeDescriptions,

  setUp: {
    title: 'Set up your server',
    text: 'Create the account that owns this server. You can find the setup code on the server’s console.',
    button: 'Create account',
  },

  invitation: {
    title: 'You are invited',
    text: 'Create your account on this server.',
    textFrom: (inviter: string) => `${inviter} invited you to create an account on this server.`,
    textShared: (inviter: string, camera: string | undefined) =>
      `${inviter} shared ${camera === undefined ? 'a camera' : `the camera ${camera}`} with you. Create an account to view it.`,
    forEmail: 'You will sign in as',
    button: 'Create account',
    memberTitle: 'You already have an account',
    member: (email: string) => `An account for ${email} already exists. Sign in to see what has been shared with you.`,
    invalidTitle: 'This invitation is not valid',
    invalid:
      'The invitation has already been used, has expired, or was replaced by a newer one. Ask the person who invited you for a new invitation.',
  },

  certificate: {
    title: 'Trust this server',
    lead: 'The certificate of this server is signed by an authority of its own, which your device does not know. Install it once on each device. Then browsers no longer warn, and iPhones and iPads play video.',
    download: 'Download the certificate',
    compare: 'Before you trust it, compare its SHA-256 fingerprint with what the server prints at its start:',
    steps: [
      [
        'iPhone and iPad',
        'Download it in Safari. Open Settings → Profile Downloaded and install it. Then open Settings → General → About → Certificate Trust Settings and turn it on.',
      ],
      ['Android', 'Open Settings, search for “CA certificate”, choose “Install anyway” and select the file.'],
      [
        'Windows',
        'Open the file, choose Install Certificate → Local Machine → Place all certificates in the following store → Trusted Root Certification Authorities.',
      ],
      ['macOS', 'Open the file to add it to Keychain Access. Open it there, and under Trust choose Always Trust.'],
      [
        'Linux, and Firefox on every system',
        'Open Settings → Privacy & Security → Certificates → Authorities → Import. Chromium has the same list at chrome://certificate-manager.',
      ],
    ] as readonly (readonly [string, string])[],
    limits:
      'The authority can vouch only for this server, for names such as “nas.local” and for addresses of private networks. It cannot pretend to be other websites.',
  },

  signUp: {
    title: 'Create an account',
    text: 'Enter your email address. We will send you a link to continue.',
    button: 'Send link',
    sentTitle: 'Check your email',
    sent: (email: string) => `If an account can be created for ${email}, you will receive a link shortly.`,
  },

  resetRequest: {
    title: 'Forgot your password?',
    text: 'Enter the email address of your account. We will send you a link to choose a new password.',
    button: 'Send link',
    sentTitle: 'Check your email',
    sent: (email: string) =>
      `If there is an account for ${email}, you will receive a link to choose a new password. The link is valid for one hour.`,
    sentHint: 'No email? Check your spam folder, or try again in a few minutes.',
    noMailServer:
      'This server has no mail server and cannot send email. Whoever runs it finds the link in the server’s outbox folder, and can set a password with “nightjar user passwd”.',
    back: 'Back to sign-in',
  },

  reset: {
    title: 'Choose a new password',
    text: 'You will be signed out of all browsers and applications.',
    revokeTokens: 'Also revoke my personal access tokens',
    revokeTokensHint: 'Select this if someone else may have had access to your account.',
    button: 'Change password',
    invalidTitle: 'This link is not valid',
    invalid: 'The link has already been used or has expired.',
    another: 'Request a new link',
  },

  email: {
    requestTitle: 'Change email address',
    requestText: (email: string) => `Your email address is ${email}. We will send a link to the new address.`,
    requestButton: 'Send link',
    newAddress: 'New email address',
    sentTitle: 'Check your email',
    sent: (email: string) =>
      `We sent a link to ${email}. Your email address does not change until you open the link and confirm the new address.`,
    back: 'Back to your account',
    title: 'Confirm your new email address',
    text: (email: string, former: string) =>
      `Your email address will change from ${former} to ${email}. You will sign in with the new address, and your other browsers and applications will be signed out.`,
    button: 'Confirm email address',
    doneTitle: 'Email address changed',
    done: 'From now on, sign in with your new email address.',
    otherTitle: 'This link belongs to a different account',
    other: (email: string) =>
      `You are signed in as ${email}. Sign in with the account whose email address you want to change.`,
    otherButton: 'Use a different account',
    invalidTitle: 'This link is not valid',
    invalid: 'The link has already been used or has expired.',
  },

  confirm: {
    title: 'Confirm it’s you',
    text: 'Enter your password to continue.',
    button: 'Continue',
  },

  providers: englishProviders,

  account: {
    title: 'Your account',
    signOut: 'Sign out',
    changePassword: 'Change password',
    changeEmail: 'Change email address',
    apps: 'Connected applications',
    noApps: 'No connected applications.',
    endApp: 'Revoke access',
    endAppOf: (name: string) => `Revoke access for ${name}`,
    browsers: 'Signed-in browsers',
    thisBrowser: 'this browser',
    endBrowser: 'Sign out',
    endBrowserOf: (name: string) => `Sign out ${name}`,
    endOthers: 'Sign out all other browsers',
    lastUsed: 'last used',
    unknownBrowser: 'Unknown browser',
    browserOn: (browser: string, system: string) => `${browser} on ${system}`,
    done: {
      password: 'Your password has been changed. All other browsers and applications have been signed out.',
      app: 'The application no longer has access.',
      session: 'The browser has been signed out.',
      sessions: 'All other browsers have been signed out.',
      shared: 'Your account is ready. You can now view the camera that was shared with you.',
    },
  },

  tokens: {
    title: 'Personal access tokens',
    text: 'A token lets your own program view and change your cameras. It does not expire, so keep it as safe as a password.',
    docs: 'How to use tokens',
    made: 'This is your new token. Copy it now. You cannot see it again.',
    another: 'New token',
    name: 'Name',
    nameHint: 'For example, the name of the program.',
    nameMissing: 'Enter a name.',
    withAccount: 'Allow the token to manage my account',
    withAccountHint:
      'This includes your tokens, applications and sessions and, if you own this server, the accounts of other users. Select this only for programs that need it.',
    nameless: 'Unnamed token',
    button: 'Create token',
    revoke: 'Revoke',
    revokeOf: (name: string) => `Revoke ${name}`,
    revoked: 'The token has been revoked.',
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
    lead: 'This page describes the API of this server. The same description for tools, in the OpenAPI format:',
    contents: 'Contents',
  },

  errors: {
    home: 'Go to the home page',
    again: 'Try again',
    outdatedTitle: 'This page is out of date',
    outdated: 'You have signed in or out since this page was loaded. Nothing was changed.',
    authorizeTitle: 'This application cannot sign you in',
    authorizeAdvice:
      'The link that brought you here is not valid. Report this error to the developer of the application:',
    ownAddressTitle: 'Open this server at its public URL',
    ownAddress: 'The public URL of this server is',
    ownAddressAdvice:
      'If this URL does not work, the administrator of the server must set the option public-url to the URL that does, and restart the server.',
    byStatus: (status: number, retryAfterSeconds: number) => describeStatus(status, retryAfterSeconds),
  },

  /** For example, "yesterday" or "5 minutes ago". */
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
      return {
        title: 'Not allowed',
        advice: 'The request did not come from a page of this server. Nothing was changed.',
      }
    case 404:
      return { title: 'Page not found', advice: 'There is no page at this URL.' }
    case 405:
      return { title: 'Request not supported', advice: 'This page does not support this kind of request.' }
    case 413:
      return { title: 'Request too large', advice: 'The form contains too much text.' }
    case 429:
      return { title: 'Too many requests', advice: `Try again in ${duration(retryAfterSeconds)}.` }
    case 503:
      return { title: 'Server unavailable', advice: 'The server cannot respond right now. Try again in a moment.' }
    default:
      return status >= 500
        ? { title: 'Something went wrong', advice: 'An error occurred on the server. The details are in its log.' }
        : { title: 'Invalid request', advice: 'The server could not read the request.' }
  }
}
