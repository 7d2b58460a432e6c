// The texts of all emails that the server sends. They are short and plain. Subjects contain nothing that other people
// chose; texts contain only their email addresses and the names of applications and cameras.

import type { Mail } from '../../model/mail.ts'
import { quoteName } from '../../model/quoted-name.ts'
import type { SecondFactorNews } from '../second-factor/second-factor-options.ts'

type Text = Pick<Mail, 'subject' | 'text' | 'usefulMs'>

const hourMs = 3_600_000

export function invitationMail({ link, inviter }: { link: string; inviter: string | undefined }): Text {
  const reason = inviter === undefined ? 'You requested an account' : `${inviter} invited you to create an account`
  return {
    subject: 'Create your Nightjar account',
    text: `${reason} on Nightjar, a camera server.

To choose a password and get started, open this link within 7 days:

${link}

If you did not expect this email, you can ignore it. No account is created unless you use the link.
`,
  }
}

/** Sent instead of an invitation when the recipient has an account. The sender cannot tell which of the two was sent. */
export function alreadyMemberMail({ url, inviter }: { url: string; inviter: string | undefined }): Text {
  const reason = inviter === undefined ? 'Someone requested an account' : `${inviter} invited you to create an account`
  return {
    subject: 'You already have a Nightjar account',
    text: `${reason} on Nightjar with this email address. You already have an account:

${url}

If you forgot your password, you can request a new one on the sign-in page.
`,
  }
}

/** Sent to guests who do not have an account. */
export function guestInvitationMail({ link, inviter, cameraName }: Sharing & { link: string }): Text {
  return {
    subject: 'A camera was shared with you on Nightjar',
    text: `${writeSharing(inviter, cameraName)} on Nightjar, a camera server.

To choose a password and view the camera, open this link within 7 days:

${link}

If you did not expect this email, you can ignore it. No account is created unless you use the link.
`,
  }
}

/** Sent to guests who have an account. */
export function shareMail({ url, inviter, cameraName }: Sharing & { url: string }): Text {
  return {
    subject: 'A camera was shared with you on Nightjar',
    text: `${writeSharing(inviter, cameraName)} on Nightjar. You can view it now:

${url}
`,
  }
}

type Sharing = { readonly inviter: string; readonly cameraName: string }

function writeSharing(inviter: string, cameraName: string): string {
  const name = quoteName(cameraName)
  return `${inviter} shared ${name === undefined ? 'a camera' : `the camera ${name}`} with you`
}

export function resetMail({ link }: { link: string }): Text {
  return {
    subject: 'Reset your Nightjar password',
    usefulMs: hourMs,
    text: `Someone, probably you, requested a new password for your Nightjar account.

To choose a new password, open this link within one hour:

${link}

If you did not request this, you can ignore this email. Your password stays the same.
`,
  }
}

export function passwordChangedMail({ url, ip, linkedUrl }: PasswordChange): Text {
  const linked =
    linkedUrl === undefined
      ? ''
      : `
Accounts that are linked to yours can still sign in. To review and remove them:

${linkedUrl}
`
  return {
    subject: 'Your Nightjar password was changed',
    text: `The password of your Nightjar account was changed${from(ip)}. All browsers and applications must sign in again.

If this was not you, choose a new password immediately:

${url}
${linked}`,
  }
}

type PasswordChange = {
  readonly url: string
  readonly ip: string | undefined
  /** The page of linked accounts. Undefined if there are none. A new password does not affect linked accounts. */
  readonly linkedUrl: string | undefined
}

export function confirmEmailMail({ link, formerEmail }: { link: string; formerEmail: string }): Text {
  return {
    subject: 'Confirm your email address for Nightjar',
    usefulMs: 24 * hourMs,
    text: `Someone requested to change the email address of the Nightjar account ${formerEmail} to this address.

To confirm that the address is yours, open this link within 24 hours:

${link}

If you did not expect this email, you can ignore it.
`,
  }
}

export function emailChangedMail({ email }: { email: string }): Text {
  return {
    subject: 'The email address of your Nightjar account was changed',
    text: `The email address of your Nightjar account was changed to ${email}.

If this was not you, contact the owner of the server immediately.
`,
  }
}

export function identityMail({ providerName, isLinked, url, ip }: IdentityChange): Text {
  const change = isLinked ? 'was linked to' : 'is no longer linked to'
  const consequence = isLinked
    ? 'Anyone who can sign in to the linked account can now also sign in to your Nightjar account.'
    : 'It can no longer be used to sign in to your Nightjar account, and all other browsers must sign in again.'
  return {
    subject: isLinked
      ? 'A sign-in service was linked to your Nightjar account'
      : 'A sign-in service was removed from your Nightjar account',
    text: `Your Nightjar account ${change} the sign-in service ${quoteName(providerName) ?? 'that you use'}${from(ip)}. ${consequence}

If this was not you, change your password immediately, and review the linked accounts:

${url}
`,
  }
}

type IdentityChange = {
  readonly providerName: string
  readonly isLinked: boolean
  readonly url: string
  readonly ip: string | undefined
}

export function reuseMail({ appName, url, ip }: { appName: string; url: string; ip: string | undefined }): Text {
  return {
    subject: 'An application was signed out of your Nightjar account',
    text: `A token of the application "${appName.replaceAll(/\p{Cc}/gu, ' ')}" was used again after it had been replaced${from(ip)}. Someone may have copied the token, so the application was signed out. To keep using the application, sign in to it again.

Your account: ${url}
`,
  }
}

export function inClearMail({ url, ip }: { url: string; ip: string | undefined }): Text {
  return {
    subject: 'A token of your Nightjar account was sent without encryption',
    text: `A program sent a token of your account${from(ip)} to an http:// URL instead of https://. The server rejected the request, but others on the network may have read the token. Revoke the token, create a new one, and correct the URL in the program.

Your account: ${url}
`,
  }
}

export function secondFactorMail({ news, url, ip, recoveryCodesLeft = 0 }: SecondFactorFacts): Text {
  const { subject, event, advice } = describeNews(news, recoveryCodesLeft)
  return {
    subject,
    text: `${event}${from(ip)}.

${advice}

Your account: ${url}
`,
  }
}

type SecondFactorFacts = {
  readonly news: SecondFactorNews
  readonly url: string
  readonly ip: string | undefined
  readonly recoveryCodesLeft?: number | undefined
}

/** `event` is a sentence without its full stop: the IP address is added to it. */
type NewsTexts = { readonly subject: string; readonly event: string; readonly advice: string }

function describeNews(news: SecondFactorNews, codesLeft: number): NewsTexts {
  const ifNotYou =
    'If this was not you, someone else has access to your account: change your password immediately, and sign out all other browsers.'
  const subject = 'The second factor of your Nightjar account was changed'
  switch (news) {
    case 'app added':
      return { subject, event: 'An authenticator app was added to your Nightjar account', advice: ifNotYou }
    case 'app removed':
      return { subject, event: 'The authenticator app was removed from your Nightjar account', advice: ifNotYou }
    case 'passkey added':
      return { subject, event: 'A passkey was added to your Nightjar account', advice: ifNotYou }
    case 'passkey removed':
      return { subject, event: 'A passkey was removed from your Nightjar account', advice: ifNotYou }
    case 'recovery codes replaced':
      return {
        subject,
        event: 'New recovery codes were generated for your Nightjar account',
        advice: `The previous codes no longer work. ${ifNotYou}`,
      }
    case 'recovery code used':
      return {
        subject: 'A recovery code of your Nightjar account was used',
        event: 'One of your recovery codes was used to sign in to your Nightjar account',
        advice: `Recovery codes left: ${codesLeft}. You can generate new ones under "Two-factor authentication". ${ifNotYou}`,
      }
    case 'removed by an owner':
      return {
        subject: 'The second factor of your Nightjar account was removed',
        event:
          'You were signed out everywhere because an owner of the server removed the second factor of your Nightjar account',
        advice:
          'From now on, your password alone is enough to sign in. Sign in and set up a second factor again. If you did not ask for this, contact the owners of the server and change your password.',
      }
    case 'wrong codes':
      return {
        subject: 'Someone may know the password of your Nightjar account',
        event: 'Someone entered the correct password of your Nightjar account, followed by several incorrect codes',
        advice: 'They were not able to sign in. If this was not you, change your password.',
      }
  }
}

function from(ip: string | undefined): string {
  return ip === undefined ? '' : ` from the IP address ${ip}`
}
