// What pages say about identity providers, in German.

import type { Texts } from './texts.ts'

export const germanProviders: Texts['providers'] = {
  signInWith: (provider) => `Mit ${provider} anmelden`,
  deniedTitle: 'Nicht angemeldet',
  denied: (provider) =>
    `${provider} hat Sie nicht eingelassen, oder Sie haben dort abgelehnt. Es wurde nichts geändert.`,
  staleTitle: 'Diese Anmeldung lässt sich nicht beenden',
  stale:
    'Sie wurde in einem anderen Browser oder vor mehr als zehn Minuten begonnen, oder sie ist schon beendet. Bitte beginnen Sie neu.',
  unavailableTitle: (provider) => `${provider} ist nicht erreichbar`,
  unavailable: 'Bitte versuchen Sie es gleich noch einmal, oder melden Sie sich mit Ihrem Passwort an.',
  invalidTitle: (provider) => `Die Antwort von ${provider} gilt nicht`,
  invalid:
    'Sie wurden nicht angemeldet. Wenn es noch einmal geschieht, sagen Sie es denen, die diesen Server betreiben.',
  refusedTitle: 'So können Sie sich nicht anmelden',
  refused: {
    disabled: 'Ihr Konto auf diesem Server ist gesperrt. Fragen Sie, wem der Server gehört.',
    address_not_verified: (provider) =>
      `${provider} bürgt nicht für Ihre E-Mail-Adresse. Bestätigen Sie sie zuerst dort, oder melden Sie sich mit Ihrem Passwort an.`,
    other_person_linked: (provider) =>
      `Es gibt ein Konto mit Ihrer E-Mail-Adresse, aber mit ihm ist ein anderes Konto bei ${provider} verknüpft. Melden Sie sich mit Ihrem Passwort an, und entfernen Sie diese Verknüpfung in den Einstellungen.`,
    sign_up_closed:
      'Sie haben kein Konto auf diesem Server, und nur wem er gehört, legt neue an. Bitten Sie dort um eines.',
    not_invited:
      'Sie haben kein Konto auf diesem Server, und niemand hat Sie eingeladen. Bitten Sie jemanden, der ein Konto hat, um eine Einladung an Ihre E-Mail-Adresse.',
    conflict: 'Jemand anderes war schneller. Bitte versuchen Sie es noch einmal.',
  },
  yourAddress: (email) => `Ihre Adresse dort: ${email}`,
  back: 'Zur Anmeldung',
  proveTitle: 'Sie haben schon ein Konto',
  prove: (email, provider) =>
    `Für ${email} gibt es auf diesem Server ein Konto. Melden Sie sich einmal an wie bisher; danach können Sie es mit ${provider} verknüpfen.`,
  proveButton: 'Weiter zur Anmeldung',
  askTitle: (provider) => `Ihr Konto mit ${provider} verknüpfen?`,
  ask: (email, provider) => `Danach meldet das Konto ${email} bei ${provider} bei Ihrem Konto hier an.`,
  askUnnamed: (provider) => `Danach meldet Ihr Konto bei ${provider} bei Ihrem Konto hier an.`,
  askButton: 'Verknüpfen',
  notNow: 'Jetzt nicht',
  otherTitle: 'Sie sind mit einem anderen Konto angemeldet',
  other: (email) => `Sie sind als ${email} angemeldet. Hier geht es um ein anderes Konto.`,
  otherButton: 'Als jemand anderes anmelden',
  title: 'Verknüpfte Konten',
  text: 'Wer sich bei einem dieser Konten anmeldet, kommt damit auch in Ihres hier.',
  none: 'Kein Konto von anderswo ist mit Ihrem verknüpft.',
  gone: 'auf diesem Server nicht mehr in Gebrauch',
  linkedAt: (ago) => `verknüpft: ${ago}`,
  unlink: 'Entfernen',
  unlinkOf: (provider) => `Die Verknüpfung mit ${provider} entfernen`,
  link: (provider) => `Mit ${provider} verknüpfen`,
  done: {
    linked: 'Das Konto ist verknüpft.',
    unlinked: 'Die Verknüpfung ist entfernt. Alle anderen Browser sind abgemeldet.',
  },
  confirm: 'Sie haben hier kein Passwort. Bitte melden Sie sich noch einmal an. Dann geht es weiter.',
  notFreshTitle: 'Sie müssen sich dort noch einmal anmelden',
  notFresh: (provider) =>
    `${provider} sagt nicht, dass Sie sich gerade angemeldet haben. Versuchen Sie es noch einmal, oder wählen Sie ein Passwort für Ihr Konto hier.`,
  passwordTitle: 'Passwort wählen',
  passwordText: (email) =>
    `Ihr Konto hat noch kein Passwort. Wir schicken einen Link an ${email}, mit dem Sie eines wählen. Alle Ihre Browser und Anwendungen werden dann abgemeldet.`,
  passwordButton: 'Link schicken',
}
