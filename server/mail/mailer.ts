// How mail leaves the server: by SMTP, or, where none is configured, into files for the owner to read.

import type { Mail } from '../model/mail.ts'

export type Mailer = {
  /** Resolves once the mail is somebody else's responsibility. Throws 'invalid' for a mail that must not be sent, else 'unavailable'. */
  send(mail: Mail): Promise<void>
}

/** `publicUrl`: addresses of the server itself are at its host. */
export function defaultSender(publicUrl: string): string {
  const { hostname } = new URL(publicUrl)
  // An address at a number or at a name without dots is refused by many; it is the owner's to give a better one.
  return `nightjar@${/^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname}`
}

/** What all mails have. */
export function writeMessage({ to, subject, text, html }: Mail, from: string) {
  return {
    from: { name: 'Nightjar', address: from },
    to: { name: '', address: to },
    subject,
    text,
    ...(html !== undefined && { html }),
    // RFC 3834: no out-of-office notes in return.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
