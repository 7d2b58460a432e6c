// The German texts about identity providers.

import type { Texts } from './texts.ts'

export const germanProviders: Texts['providers'] = {
  signInWith: (provider) => `Mit ${provider} anmelden`,
  deniedTitle: 'Sie sind nicht angemeldet',
  denied: (provider) =>
    `${provider} hat Sie nicht angemeldet, oder Sie haben dort abgebrochen. Es wurde nichts geändert.`,
  staleTitle: 'Diese Anmeldung ist abgelaufen',
  stale:
    'Sie wurde in einem anderen Browser oder vor mehr als zehn Minuten begonnen, oder sie ist bereits abgeschlossen. Beginnen Sie von vorn.',
  unavailableTitle: (provider) => `${provider} ist nicht erreichbar`,
  unavailable: 'Versuchen Sie es gleich noch einmal, oder melden Sie sich mit Ihrem Passwort an.',
  invalidTitle: (provider) => `Die Antwort von ${provider} ist ungültig`,
  invalid:
    'Sie wurden nicht angemeldet. Wenn das wieder geschieht, wenden Sie sich an den Administrator dieses Servers.',
  refusedTitle: 'So können Sie sich nicht anmelden',
  refused: {
    disabled: 'Ihr Konto auf diesem Server ist gesperrt. Wenden Sie sich an den Eigentümer des Servers.',
    address_not_verified: (provider) =>
      `${provider} hat Ihre E-Mail-Adresse nicht bestätigt. Bestätigen Sie sie zuerst dort, oder melden Sie sich mit Ihrem Passwort an.`,
    other_person_linked: (provider) =>
      `Es gibt ein Konto mit Ihrer E-Mail-Adresse, aber es ist mit einem anderen Konto bei ${provider} verknüpft. Melden Sie sich mit Ihrem Passwort an und entfernen Sie diese Verknüpfung in den Einstellungen.`,
    sign_up_closed:
      'Sie haben kein Konto auf diesem Server. Bitten Sie den Eigentümer des Servers, eines für Sie anzulegen.',
    not_invited:
      'Sie haben kein Konto auf diesem Server und wurden nicht eingeladen. Bitten Sie den Eigentümer des Servers oder einen anderen Benutzer, Ihre E-Mail-Adresse einzuladen.',
    conflict: 'Ihr Konto wurde gleichzeitig geändert. Versuchen Sie es noch einmal.',
  },
  yourAddress: (email) => `Ihre E-Mail-Adresse dort: ${email}`,
  back: 'Zurück zur Anmeldung',
  proveTitle: 'Sie haben bereits ein Konto',
  prove: (email, provider) =>
    `Für ${email} gibt es auf diesem Server bereits ein Konto. Melden Sie sich wie gewohnt an. Danach können Sie es mit Ihrem Konto bei ${provider} verknüpfen.`,
  proveButton: 'Weiter zur Anmeldung',
  askTitle: (provider) => `Ihr Konto mit ${provider} verknüpfen?`,
  ask: (email, provider) => `Sie können sich dann mit dem Konto ${email} bei ${provider} hier anmelden.`,
  askUnnamed: (provider) => `Sie können sich dann mit Ihrem Konto bei ${provider} hier anmelden.`,
  askButton: 'Verknüpfen',
  notNow: 'Jetzt nicht',
  otherTitle: 'Sie sind mit einem anderen Konto angemeldet',
  other: (email) => `Sie sind als ${email} angemeldet, aber diese Seite gilt für ein anderes Konto.`,
  otherButton: 'Anderes Konto verwenden',
  title: 'Verknüpfte Konten',
  text: 'Wer sich bei einem dieser Konten anmelden kann, kann sich auch bei Ihrem Konto hier anmelden.',
  none: 'Keine verknüpften Konten.',
  gone: 'auf diesem Server nicht mehr verfügbar',
  linkedAt: (ago) => `verknüpft: ${ago}`,
  unlink: 'Entfernen',
  unlinkOf: (provider) => `Verknüpfung mit ${provider} entfernen`,
  link: (provider) => `Mit ${provider} verknüpfen`,
  done: {
    linked: 'Das Konto wurde verknüpft.',
    unlinked: 'Die Verknüpfung wurde entfernt. Alle anderen Browser wurden abgemeldet.',
  },
  confirm: 'Ihr Konto hat kein Passwort. Melden Sie sich noch einmal an, um fortzufahren.',
  notFreshTitle: 'Sie müssen sich noch einmal anmelden',
  notFresh: (provider) =>
    `${provider} hat nicht bestätigt, dass Sie sich gerade angemeldet haben. Versuchen Sie es noch einmal, oder legen Sie ein Passwort für Ihr Konto hier fest.`,
  passwordTitle: 'Passwort festlegen',
  passwordText: (email) =>
    `Ihr Konto hat noch kein Passwort. Wir senden einen Link an ${email}, mit dem Sie eines festlegen können. Dabei werden Sie in allen Browsern und Anwendungen abgemeldet.`,
  passwordButton: 'Link senden',
}
