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
  camera: {
    live: 'Live',
    livePicture: (name) => `${name}, live`,
    recordedPicture: (name, time) => `${name}, ${time}`,
    offline: 'Die Kamera ist gerade nicht erreichbar. Was sie aufgezeichnet hat, lässt sich weiterhin abspielen.',
    recordings: 'Aufzeichnungen',
    notRecorded: 'Diese Kamera wird nicht aufgezeichnet.',
    noRecordings:
      'Sie dürfen diese Kamera live sehen; ihre Aufzeichnungen sind nicht mit Ihnen geteilt, oder es gibt keine.',
    recordingFails: (reason) => `Es wird nichts aufgezeichnet. ${reason}`,
    nothingThere: 'Ab diesem Zeitpunkt gibt es keine Aufzeichnung.',
    unplayable: 'Dieser Browser kann nicht abspielen, was die Kamera sendet.',
    back: '10 s zurück',
    forward: '10 s vor',
    play: 'Abspielen',
    pause: 'Pause',
    speed: 'Tempo',
    toLive: 'Zurück zu live',
    soundOn: 'Ton an',
    soundOff: 'Ton aus',
    fullScreen: 'Vollbild',
    zoomIn: 'Weniger Zeit',
    zoomOut: 'Mehr Zeit',
    dayBefore: 'Tag davor',
    today: 'Heute',
    allCameras: 'Alle Kameras',
  },
  timeline: {
    label: 'Zeitleiste',
    gap: (reason) => `Keine Aufzeichnung: ${reason}`,
    reasons: {
      camera_unreachable: 'die Kamera war nicht erreichbar',
      auth_failed: 'die Kamera wies Name und Passwort zurück',
      no_frames: 'die Kamera schickte keine Bilder',
      stream_changed: 'die Kamera änderte ihren Strom',
      stopped_by_user: 'die Aufzeichnung war aus',
      disk_full: 'der Speicher war voll',
      server_down: 'der Server lief nicht',
      overload: 'der Server war überlastet',
      unknown: 'der Grund ist nicht bekannt',
    },
  },
  addCamera: {
    title: 'Kamera hinzufügen',
    name: 'Name',
    nameHint: 'Wie Sie sie nennen, zum Beispiel Haustür.',
    url: 'Adresse',
    urlHint: 'Aus der Anleitung oder den eigenen Seiten der Kamera; die meisten beginnen mit rtsp://.',
    username: 'Benutzername der Kamera',
    password: 'Passwort der Kamera',
    add: 'Kamera hinzufügen',
    cancel: 'Abbrechen',
  },
  recordingFields: {
    legend: 'Aufzeichnung',
    record: 'Rund um die Uhr aufzeichnen',
    keep: 'Aufzeichnungen behalten für',
    days: (days) => (days === 1 ? '1 Tag' : `${days} Tage`),
    takes: (gigabytes, isGuess) =>
      `Braucht etwa ${gigabytes < 10 ? gigabytes.toFixed(1).replace('.', ',') : Math.round(gigabytes)} GB Speicher${isGuess ? ' bei einer Kamera, die 2 Mbit/s sendet' : ''}. Das Älteste geht zuerst.`,
  },
}
