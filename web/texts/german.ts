// German.

import type { Texts } from './texts.tsx'

export const german: Texts = {
  again: 'Noch einmal versuchen',
  cancel: 'Abbrechen',
  close: 'Schließen',
  save: 'Speichern',
  loading: 'Lädt …',
  frame: {
    skip: 'Zum Inhalt',
    navigation: 'Ansichten',
    ways: { cameras: 'Kameras', events: 'Ereignisse', settings: 'Einstellungen' },
    unreachable:
      'Der Server ist nicht erreichbar. Was zu sehen ist, kann alt sein; sobald der Server wieder da ist, geht es von selbst weiter.',
  },
  splash: {
    opening: 'Wird geöffnet …',
    unreachable: 'Der Server ist nicht erreichbar',
    unreachableAdvice: 'Läuft er, und ist dieses Gerät in seinem Netz?',
    refused: 'Die Anmeldung hat nicht geklappt',
    again: 'Noch einmal versuchen',
  },
  failures: {
    unreachable: 'Der Server hat nicht geantwortet. Bitte gleich noch einmal versuchen.',
    forbidden: 'Das ist Ihnen nicht erlaubt.',
    missing: 'Das gibt es nicht mehr, oder Sie dürfen es nicht sehen.',
    busy: 'Der Server ist gerade zu beschäftigt. Bitte bald noch einmal versuchen.',
    tooMany: (seconds) =>
      seconds === undefined
        ? 'Zu viele Anfragen. Bitte später noch einmal versuchen.'
        : `Zu viele Anfragen. In ${seconds} s geht es wieder.`,
    unknown:
      'Hier ist etwas schiefgegangen. Bitte die Seite neu laden; wenn es wieder geschieht, hilft ein Blick in das Protokoll des Servers.',
  },
  account: {
    why: 'Was hier entsteht, bleibt; darum wird zuerst nach dem Passwort gefragt. Es gilt dann zehn Minuten lang.',
    open: 'Passwort eingeben',
  },
  cameras: {
    title: 'Kameras',
    add: 'Kamera hinzufügen',
    own: 'Ihre Kameras',
    shared: 'Mit Ihnen geteilt',
    search: 'Suchen',
    noneTitle: 'Noch keine Kamera',
    none: 'Fügen Sie die erste hinzu: Sie brauchen nur ihre Adresse in Ihrem Netz.',
    nothingFound: (text) => `Keine Kamera heißt „${text}“.`,
    status: { online: 'Online', offline: 'Offline', unknown: 'Verbindet' },
    of: (owner) => `von ${owner}`,
    recording: 'Zeichnet auf',
  },
}
