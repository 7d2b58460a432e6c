// All mails of the server. Plain and short; nothing a stranger chose is in a subject, and of what strangers chose only addresses
// and names of applications and cameras are in a text.

import type { Mail } from '../../model/mail.ts'
import { quoteName } from '../../model/quoted-name.ts'
import type { SecondFactorNews } from '../second-factor/second-factor-options.ts'

type Text = Pick<Mail, 'subject' | 'text'>

export function invitationMail({ link, inviter }: { link: string; inviter: string | undefined }): Text {
  const reason = inviter === undefined ? 'You asked for an account' : `${inviter} invites you to an account`
  return {
    subject: 'Your account at Nightjar',
    text: `${reason} at Nightjar, a camera server.

To choose a password and begin, open this link within 7 days:

${link}

If you do not expect this, ignore it: nothing happens without you.
`,
  }
}

/** Sent instead of an invitation to somebody who has an account; whoever asked cannot tell the two apart. */
export function alreadyMemberMail({ url, inviter }: { url: string; inviter: string | undefined }): Text {
  const reason = inviter === undefined ? 'Somebody asked for an account' : `${inviter} invited you to an account`
  return {
    subject: 'Your account at Nightjar',
    text: `${reason} at Nightjar with this address. You have one already:

${url}

If you forgot the password, ask for a new one there.
`,
  }
}

/** To somebody without an account. */
export function guestInvitationMail({ link, inviter, cameraName }: Sharing & { link: string }): Text {
  return {
    subject: 'A camera is shared with you at Nightjar',
    text: `${writeSharing(inviter, cameraName)} at Nightjar, a camera server.

To choose a password and see it, open this link within 7 days:

${link}

If you do not expect this, ignore it: nothing happens without you.
`,
  }
}

/** To somebody who has one. */
export function shareMail({ url, inviter, cameraName }: Sharing & { url: string }): Text {
  return {
    subject: 'A camera is shared with you at Nightjar',
    text: `${writeSharing(inviter, cameraName)} at Nightjar. It is among your shared cameras now:

${url}
`,
  }
}

type Sharing = { readonly inviter: string; readonly cameraName: string }

function writeSharing(inviter: string, cameraName: string): string {
  const name = quoteName(cameraName)
  return `${inviter} shares ${name === undefined ? 'a camera' : `the camera ${name}`} with you`
}

export function resetMail({ link }: { link: string }): Text {
  return {
    subject: 'A new password for Nightjar',
    text: `Somebody, probably you, asked for a new password for your account at Nightjar.

To choose it, open this link within an hour:

${link}

If it was not you, ignore this: your password stays as it is.
`,
  }
}

export function passwordChangedMail({ url, ip, linkedUrl }: PasswordChange): Text {
  const linked =
    linkedUrl === undefined
      ? ''
      : `
Accounts elsewhere that are linked with yours still sign in to it. To see and remove them:

${linkedUrl}
`
  return {
    subject: 'Your password for Nightjar was changed',
    text: `The password of your account at Nightjar was changed${from(ip)}. All browsers and applications have to sign in again.

If it was not you, ask for a new password at once:

${url}
${linked}`,
  }
}

type PasswordChange = {
  readonly url: string
  readonly ip: string | undefined
  /** Where an identity provider signs in to the account, which a new password does not change. */
  readonly linkedUrl: string | undefined
}

export function confirmEmailMail({ link, formerEmail }: { link: string; formerEmail: string }): Text {
  return {
    subject: 'Your new address at Nightjar',
    text: `The account ${formerEmail} at Nightjar wants to go by this address from now on.

To confirm that it is yours, open this link within 24 hours:

${link}

If you do not expect this, ignore it.
`,
  }
}

export function emailChangedMail({ email }: { email: string }): Text {
  return {
    subject: 'Your address at Nightjar was changed',
    text: `Your account at Nightjar goes by ${email} from now on.

If it was not you, tell the owner of the server.
`,
  }
}

export function identityMail({ providerName, isLinked, url, ip }: IdentityChange): Text {
  const what = isLinked ? 'was linked with' : 'is no longer linked with'
  const now = isLinked
    ? `Whoever signs in there with the account that was linked gets into yours.`
    : `Nobody can sign in to it from there any more, and all other browsers have to sign in again.`
  return {
    subject: isLinked
      ? 'Another way to sign in to your Nightjar account'
      : 'A way to sign in to your Nightjar account was removed',
    text: `Your account at Nightjar ${what} the sign-in service ${quoteName(providerName) ?? 'that you use'}${from(ip)}. ${now}

If it was not you, change your password at once, and look at what signs in to your account:

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
    text: `A credential of the application "${appName.replaceAll(/\p{Cc}/gu, ' ')}" that had been replaced before was used again${from(ip)}. That happens
when somebody has copied it, so the application was signed out. To go on using it, sign in to it again.

Your account: ${url}
`,
  }
}

export function inClearMail({ url, ip }: { url: string; ip: string | undefined }): Text {
  return {
    subject: 'A credential of your Nightjar account was sent without encryption',
    text: `A program sent a token of your account${from(ip)} with http:// in the address in place of https://. It was refused, but whoever was on the way
could read the token. Revoke it, make another one, and correct the address in the program.

Your account: ${url}
`,
  }
}

export function secondFactorMail({ news, url, ip, recoveryCodesLeft = 0 }: SecondFactorFacts): Text {
  const { subject, what, advice } = secondFactorWords(recoveryCodesLeft)[news]
  return {
    subject,
    text: `${what}${from(ip)}.

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

function secondFactorWords(
  codesLeft: number,
): Record<SecondFactorNews, { subject: string; what: string; advice: string }> {
  const ifNotYou =
    'If it was not you, somebody else is signed in to your account: change your password at once, and sign out all other browsers.'
  const changed = 'The second factor of your Nightjar account was changed'
  return {
    'app added': {
      subject: changed,
      what: 'An authenticator app was added to your account at Nightjar',
      advice: ifNotYou,
    },
    'app removed': {
      subject: changed,
      what: 'The authenticator app was removed from your account at Nightjar',
      advice: ifNotYou,
    },
    'passkey added': { subject: changed, what: 'A passkey was added to your account at Nightjar', advice: ifNotYou },
    'passkey removed': {
      subject: changed,
      what: 'A passkey was removed from your account at Nightjar',
      advice: ifNotYou,
    },
    'recovery codes replaced': {
      subject: changed,
      what: 'New recovery codes were made for your account at Nightjar, and the former ones count no more',
      advice: ifNotYou,
    },
    'recovery code used': {
      subject: 'A recovery code of your Nightjar account was used',
      what: 'One of your recovery codes was used to sign in to your account at Nightjar',
      advice: `Codes left: ${codesLeft}. New ones are made on the page of the second factor. ${ifNotYou}`,
    },
    'removed by an owner': {
      subject: 'The second factor of your Nightjar account was removed',
      what: 'An owner of the server removed the second factor of your account at Nightjar, and signed you out everywhere',
      advice:
        'Your password alone signs in from now on. Sign in and set up a second factor again. If you did not ask for it, ask the owners of the server, and change your password.',
    },
    'wrong codes': {
      subject: 'Somebody may know the password of your Nightjar account',
      what: 'Somebody gave the right password of your account at Nightjar, and then several wrong codes',
      advice: 'They did not get in. If it was not you, choose another password.',
    },
  }
}

function from(ip: string | undefined): string {
  return ip === undefined ? '' : ` from the address ${ip}`
}
