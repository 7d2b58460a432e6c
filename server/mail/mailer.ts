// Sends emails by SMTP or, if no mail server is configured, saves them as files for the owner.

import type { Mail } from '../model/mail.ts'

export type Mailer = {
  /**
   * Resolves when the email has been handed over. Throws 'invalid' for emails that must not be sent, otherwise
   * 'unavailable'.
   */
  send(mail: Mail): Promise<void>
}

/** `publicUrl`: the sender's address is at its host. */
export function defaultSender(publicUrl: string): string {
  const { hostname } = new URL(publicUrl)
  // Many mail servers reject senders at IP addresses. Owners can configure a better sender.
  return `nightjar@${/^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname}`
}

/** The fields that all emails share. */
export function writeMessage({ to, subject, text, html }: Mail, from: string) {
  return {
    from: { name: 'Nightjar', address: from },
    to: { name: '', address: to },
    subject,
    text,
    ...(html !== undefined && { html }),
    // RFC 3834: asks for no automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
