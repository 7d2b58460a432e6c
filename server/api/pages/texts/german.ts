// The pages in German, in the words of the dashboard's German (web/texts/german.ts).

import { maxPasskeys, maxPersonalTokens, maxPersonNameLength, passwordLength } from '../../../model/account-fault.ts'
import { createAgo } from './ago.ts'
import { germanProviders } from './german-providers.ts'
import type { Texts } from './texts.ts'

export const german: Texts = {
  language: 'de',
  productName: 'Nightjar',
  tagline: 'Ihre Kameras, auf Ihrem eigenen Server.',
  errorPrefix: 'Fehler:',
  quotationMarks: ['„', '“'],

  fields: {
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    newPassword: 'Neues Passwort',
    currentPassword: 'Jetziges Passwort',
    firstName: 'Vorname',
    lastName: 'Nachname',
    setUpCode: 'Einrichtungscode',
    passwordHint: `Mindestens ${passwordLength.min} Zeichen. Einige Wörter, die nichts miteinander zu tun haben, sind leicht zu merken und schwer zu erraten.`,
  },

  problems: {
    emailMissing: 'Geben Sie Ihre E-Mail-Adresse ein.',
    emailWrong: 'Geben Sie eine E-Mail-Adresse ein, wie name@example.com.',
    passwordMissing: 'Geben Sie Ihr Passwort ein.',
    newPasswordMissing: 'Wählen Sie ein Passwort.',
    firstNameMissing: 'Geben Sie Ihren Vornamen ein.',
    codeMissing: 'Geben Sie den Einrichtungscode ein.',
    passwordWrong: 'Das Passwort stimmt nicht.',
    signInWrong: 'Die E-Mail-Adresse oder das Passwort stimmt nicht.',
    secondFactorMissing: 'Geben Sie den Code ein.',
    secondFactorWrong:
      'Dieser Code stimmt nicht oder wurde schon verwendet. Die Authentifizierungs-App zeigt alle 30 Sekunden einen neuen.',
    passkeyWrong: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal, oder melden Sie sich anders an.',
    outdated: 'Diese Seite war zu lange offen. Bitte versuchen Sie es noch einmal.',
    tooMany: (seconds) => `Das waren zu viele Versuche. Bitte versuchen Sie es ${inTime(seconds)} noch einmal.`,
    busy: 'Der Server ist gerade zu beschäftigt. Bitte versuchen Sie es gleich noch einmal.',
  },

  faults: {
    account_exists: 'Für diese Adresse gibt es schon ein Konto.',
    identity_taken: 'Dieses Konto des Anbieters ist schon mit einem anderen Konto hier verknüpft.',
    identity_other:
      'Ein anderes Konto bei diesem Anbieter ist schon verknüpft. Entfernen Sie zuerst diese Verknüpfung.',
    last_way_in: 'Sonst führt nichts in dieses Konto. Wählen Sie zuerst ein Passwort.',
    name_length: `Das sind mehr als ${maxPersonNameLength} Zeichen.`,
    name_characters: 'Ein Name enthält keine unsichtbaren Zeichen.',
    password_length: `Das Passwort braucht ${passwordLength.min} bis ${passwordLength.max} Zeichen.`,
    password_is_email: 'Das Passwort darf nicht die E-Mail-Adresse sein.',
    password_common:
      'Dieses Passwort ist zu leicht zu erraten. Wählen Sie ein längeres, zum Beispiel einige Wörter, die nichts miteinander zu tun haben.',
    password_none:
      'Dieses Konto hat kein Passwort. Lassen Sie sich einen Link schicken, mit dem Sie eines wählen, oder melden Sie sich im Browser beim Anbieter an.',
    password_wrong: 'Das ist nicht Ihr Passwort.',
    app_code_wrong: 'Das ist nicht der Code, den die App zeigt. Prüfen Sie die Uhr des Geräts.',
    app_exists: 'Es gibt schon eine Authentifizierungs-App; entfernen Sie sie zuerst.',
    passkey_wrong: 'Die Antwort des Browsers hat nicht gepasst. Bitte versuchen Sie es noch einmal.',
    passkey_exists: 'Dieser Passkey wird schon verwendet.',
    passkeys_too_many: `Es gibt schon ${maxPasskeys} Passkeys; entfernen Sie einen, der nicht gebraucht wird.`,
    second_factor_required:
      'Wem dieser Server gehört, braucht einen zweiten Faktor; fügen Sie einen anderen hinzu, bevor Sie diesen entfernen.',
    second_factor_elsewhere: 'Das Konto hat einen zweiten Faktor: Das geht in der Oberfläche, die danach fragt.',
    setup_code_wrong: 'Das ist nicht der Einrichtungscode, oder er ist abgelaufen.',
    set_up_already: 'Dieser Server ist schon eingerichtet.',
    set_up_not_yet: 'Dieser Server ist noch nicht eingerichtet.',
    tokens_too_many: `Es gibt schon ${maxPersonalTokens} Token. Widerrufen Sie eines, das nicht gebraucht wird.`,
  },

  signIn: {
    title: 'Anmelden',
    forApp: (appName) => `weiter zu ${appName}`,
    button: 'Anmelden',
    passkey: 'Mit einem Passkey anmelden',
    forgot: 'Passwort vergessen?',
    signUp: 'Konto anlegen',
    done: {
      signedOut: 'Sie sind abgemeldet.',
      passwordChanged: 'Ihr Passwort ist geändert. Melden Sie sich mit dem neuen an.',
      late: 'Das hat zu lange gedauert. Bitte melden Sie sich noch einmal an.',
    },
  },

  passkeys: {
    failed: 'Der Browser hat dafür keinen Passkey gefunden, oder Sie haben abgebrochen.',
  },

  secondStep: {
    title: 'Noch ein Schritt',
    text: (email) => `Bitte bestätigen Sie, dass Sie ${email} sind.`,
    passkey: 'Passkey verwenden',
    code: 'Code',
    codeHint:
      'Die sechs Ziffern, die Ihre Authentifizierungs-App jetzt zeigt, oder einer Ihrer Wiederherstellungscodes.',
    recoveryHint: 'Einer Ihrer Wiederherstellungscodes.',
    button: 'Weiter',
    lost: 'Alles verloren? Wer diesen Server betreibt, kann Ihren zweiten Faktor entfernen.',
    back: 'Mit einem anderen Konto anmelden',
  },

  secondFactor: {
    title: 'Zweiter Faktor',
    textOn: 'Ihr Passwort allein öffnet Ihr Konto nicht: Es wird auch nach einem Passkey oder einem Code gefragt.',
    textOff:
      'Mit einem zweiten Faktor öffnet Ihr Passwort allein Ihr Konto nicht mehr. Andere Browser, die angemeldet sind, werden abgemeldet; Anwendungen und persönliche Zugriffstoken laufen weiter.',
    needed: 'Wem dieser Server gehört, braucht einen zweiten Faktor. Bitte richten Sie einen ein, um fortzufahren.',
    passkeys: 'Passkeys',
    passkeysText:
      'Ein Telefon, ein Computer oder ein Sicherheitsschlüssel, den Sie mit Fingerabdruck, Gesicht oder PIN entsperren.',
    noPasskeys:
      'Passkeys gibt es nur, wo dieser Server unter einem Namen erreicht wird, nicht unter einer Adresse aus Zahlen.',
    noScript: 'Passkeys brauchen JavaScript und einen Browser, der sie kennt.',
    passkeyName: 'Name',
    passkeyNameHint: 'Um ihn wiederzuerkennen, zum Beispiel „Mein Telefon“.',
    nameless: 'Passkey ohne Namen',
    addPasskey: 'Passkey hinzufügen',
    app: 'Authentifizierungs-App',
    appText: 'Eine App auf Ihrem Telefon, die sechs Ziffern zeigt, alle 30 Sekunden neue.',
    addApp: 'Authentifizierungs-App hinzufügen',
    addedAgo: (ago) => `hinzugefügt ${ago}`,
    usedAgo: (ago) => `zuletzt verwendet ${ago}`,
    remove: 'Entfernen',
    removeOf: (name) => `${name} entfernen`,
    codes: 'Wiederherstellungscodes',
    codesLeft: (count) =>
      `Für den Fall, dass Sie nichts anderes haben. ${count === 1 ? 'Ein Code ist' : `${count} Codes sind`} übrig; jeder gilt einmal.`,
    newCodes: 'Neue Codes erzeugen',
    owners: 'Wem dieser Server gehört',
    ownersNeed:
      'Wem dieser Server gehört, braucht einen zweiten Faktor: Wer keinen hat, wird beim Anmelden aufgefordert, einen einzurichten.',
    ownersFree: 'Wem dieser Server gehört, darf sich ohne zweiten Faktor anmelden.',
    askOwners: 'Von allen verlangen, denen er gehört',
    freeOwners: 'Nicht mehr verlangen',
    done: {
      added: 'Der zweite Faktor ist hinzugefügt.',
      removed: 'Der zweite Faktor ist entfernt.',
      required: 'Von jetzt an braucht einen zweiten Faktor, wem dieser Server gehört.',
      notRequired: 'Ein zweiter Faktor wird nicht mehr verlangt.',
    },
  },

  authenticatorApp: {
    title: 'Authentifizierungs-App hinzufügen',
    text: 'Scannen Sie diesen QR-Code mit Ihrer Authentifizierungs-App.',
    picture: 'QR-Code für die Authentifizierungs-App',
    typed: 'Oder tippen Sie diesen Schlüssel in die App:',
    code: 'Code',
    codeHint: 'Die sechs Ziffern, die die App jetzt zeigt.',
    button: 'Hinzufügen',
  },

  recoveryCodes: {
    title: 'Ihre Wiederherstellungscodes',
    text: 'Mit einem dieser Codes melden Sie sich an, wenn Sie weder einen Passkey noch die Authentifizierungs-App zur Hand haben. Jeder gilt einmal.',
    once: 'Drucken Sie sie aus oder schreiben Sie sie auf, und bewahren Sie sie sicher auf. Sie werden nicht noch einmal gezeigt.',
    next: 'Ich habe sie aufbewahrt',
  },

  signOut: {
    title: 'Abmelden',
    text: (name) => `Sie sind als ${name} angemeldet.`,
    button: 'Abmelden',
    stay: 'Angemeldet bleiben',
  },

  consent: {
    title: (appName) => `${appName} einlassen?`,
    asks: (appName) => `${appName} möchte Ihr Konto hier benutzen. Die Anwendung darf dann:`,
    owner: 'Erstellt von',
    target: 'Führt Sie zu',
    lifetime: 'Gilt',
    lasts: (idleDays, mostDays) => {
      const idle = `bis Sie es beenden, oder bis die Anwendung ${days(idleDays)} lang nicht benutzt wurde`
      return mostDays === undefined ? idle : `${idle}; höchstens ${days(mostDays)}`
    },
    account: 'Angemeldet als',
    notYou: 'Anderes Konto benutzen',
    caution:
      'Lassen Sie nur ein, wem Sie vertrauen. Sie können es jederzeit auf der Seite Ihres Kontos wieder beenden.',
    allow: 'Einlassen',
    deny: 'Nicht einlassen',
    changed: 'Die Anwendung wurde inzwischen geändert. Gehen Sie zu ihr zurück und beginnen Sie neu.',
  },

  scopes: {
    user_access: 'Alle Ihre Kameras, Aufzeichnungen, Gäste und Ereignisse sehen und ändern',
    read: 'Ihre Kameras, Live-Bilder, Aufzeichnungen, Gäste und Ereignisse sehen',
    write: 'Kameras, Aufzeichnungen, Gäste und Ereignisse hinzufügen, ändern und entfernen',
    camera_access: 'Ihre Kameras und deren Live-Bilder sehen',
    camera_guest_access: 'Sehen, mit wem Ihre Kameras geteilt sind',
    recording_access: 'Aufzeichnungen sehen',
    event_access: 'Ereignisse sehen',
    camera_create: 'Kameras hinzufügen',
    camera_manage: 'Kameras ändern',
    camera_delete: 'Kameras entfernen',
    camera_guest_manage: 'Ihre Kameras mit anderen teilen und das wieder beenden',
    recording_manage: 'Die Aufzeichnung ein- und ausschalten und ändern, wie lange Aufzeichnungen behalten werden',
    recording_start_stop: 'Die Aufzeichnung beginnen und beenden',
    event_manage: 'Ereignisse melden',
    account_manage:
      'Ihr Konto verwalten: Zugangstoken erstellen und widerrufen; Anwendungen eintragen; Anmeldungen beenden; um eine neue Adresse oder ein neues Passwort bitten; und wenn Ihnen dieser Server gehört, auch die Konten aller anderen verwalten',
  },

  setUp: {
    title: 'Server einrichten',
    text: 'Legen Sie das Konto an, dem dieser Server gehört. Der Einrichtungscode steht auf seiner Konsole.',
    button: 'Konto anlegen',
  },

  invitation: {
    title: 'Sie sind eingeladen',
    text: 'Legen Sie Ihr Konto auf diesem Server an.',
    textFrom: (inviter) => `${inviter} lädt Sie zu einem Konto auf diesem Server ein.`,
    textShared: (inviter, camera) =>
      `${inviter} teilt ${camera === undefined ? 'eine Kamera' : `die Kamera ${camera}`} mit Ihnen. Legen Sie ein Konto an, um sie zu sehen.`,
    forEmail: 'Ihr Konto ist für',
    button: 'Konto anlegen',
    memberTitle: 'Sie haben schon ein Konto',
    member: (email) =>
      `Für ${email} gibt es schon ein Konto. Melden Sie sich an, um zu sehen, was mit Ihnen geteilt ist.`,
    invalidTitle: 'Diese Einladung gilt nicht',
    invalid:
      'Sie wurde schon benutzt, ist abgelaufen oder durch eine neuere ersetzt. Bitten Sie die Person, die Sie eingeladen hat, um eine andere.',
  },

  signUp: {
    title: 'Konto anlegen',
    text: 'Wir schicken Ihnen einen Link, mit dem es weitergeht.',
    button: 'Link schicken',
    sentTitle: 'Sehen Sie in Ihre Mails',
    sent: (email) => `Wenn für ${email} ein Konto angelegt werden kann, ist ein Link unterwegs.`,
  },

  resetRequest: {
    title: 'Passwort vergessen?',
    text: 'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir schicken Ihnen einen Link, mit dem Sie ein neues Passwort wählen.',
    button: 'Link schicken',
    sentTitle: 'Sehen Sie in Ihre Mails',
    sent: (email) =>
      `Wenn es für ${email} ein Konto gibt, ist ein Link unterwegs, mit dem Sie ein neues Passwort wählen. Er gilt eine Stunde lang.`,
    sentHint: 'Nichts da? Sehen Sie im Spam nach, oder versuchen Sie es in einigen Minuten noch einmal.',
    back: 'Zurück zur Anmeldung',
  },

  reset: {
    title: 'Neues Passwort wählen',
    text: 'Alle Ihre Browser und Anwendungen werden abgemeldet.',
    revokeTokens: 'Auch meine Zugangstoken widerrufen',
    revokeTokensHint: 'Kreuzen Sie das an, wenn jemand anderes Zugang zu Ihrem Konto gehabt haben kann.',
    button: 'Passwort ändern',
    invalidTitle: 'Dieser Link gilt nicht',
    invalid: 'Er wurde schon benutzt oder ist abgelaufen.',
    another: 'Neuen Link schicken',
  },

  email: {
    requestTitle: 'E-Mail-Adresse ändern',
    requestText: (email) => `Ihre Adresse ist ${email}. Wir schicken einen Link an die neue.`,
    requestButton: 'Link schicken',
    newAddress: 'Neue E-Mail-Adresse',
    sentTitle: 'Sehen Sie in Ihre Mails',
    sent: (email) => `Ein Link an ${email} ist unterwegs. Ihre Adresse bleibt, wie sie ist, bis Sie ihn öffnen.`,
    back: 'Zurück zu Ihrem Konto',
    title: 'Neue Adresse bestätigen',
    text: (email, former) =>
      `Ihre Adresse ist ${former}. Danach melden Sie sich als ${email} an, und andere Browser und Anwendungen müssen sich neu anmelden.`,
    button: 'Adresse bestätigen',
    doneTitle: 'Adresse geändert',
    done: 'Melden Sie sich von jetzt an mit der neuen Adresse an.',
    otherTitle: 'Dieser Link gehört zu einem anderen Konto',
    other: (email) =>
      `Sie sind als ${email} angemeldet. Melden Sie sich mit dem Konto an, für das die neue Adresse gedacht ist.`,
    otherButton: 'Als jemand anderes anmelden',
    invalidTitle: 'Dieser Link gilt nicht',
    invalid: 'Er wurde schon benutzt oder ist abgelaufen.',
  },

  confirm: {
    title: 'Sind Sie es?',
    text: 'Bitte geben Sie noch einmal Ihr Passwort ein. Dann geht es weiter.',
    button: 'Weiter',
  },

  providers: germanProviders,

  account: {
    title: 'Ihr Konto',
    signOut: 'Abmelden',
    changePassword: 'Passwort ändern',
    changeEmail: 'E-Mail-Adresse ändern',
    apps: 'Anwendungen, die Sie eingelassen haben',
    noApps: 'Keine Anwendung hat Zugang zu Ihrem Konto.',
    endApp: 'Zugang beenden',
    endAppOf: (name) => `Zugang von ${name} beenden`,
    browsers: 'Browser, die angemeldet sind',
    thisBrowser: 'dieser Browser',
    endBrowser: 'Abmelden',
    endBrowserOf: (name) => `${name} abmelden`,
    endOthers: 'Alle anderen abmelden',
    lastUsed: 'zuletzt benutzt:',
    unknownBrowser: 'Unbekannter Browser',
    browserOn: (browser, system) => `${browser}, ${system}`,
    done: {
      password: 'Ihr Passwort ist geändert. Alle anderen Browser und Anwendungen sind abgemeldet.',
      app: 'Die Anwendung hat keinen Zugang mehr.',
      session: 'Der Browser ist abgemeldet.',
      sessions: 'Alle anderen Browser sind abgemeldet.',
      shared: 'Ihr Konto ist bereit, und die Kamera steht bei denen, die mit Ihnen geteilt sind.',
    },
  },

  tokens: {
    title: 'Zugangstoken',
    text: 'Mit einem Token darf ein eigenes Programm Ihre Kameras sehen und ändern. Es läuft nicht ab; verwahren Sie es wie ein Passwort.',
    docs: 'Wie Programme es benutzen (englisch).',
    made: 'Das ist Ihr neues Token. Kopieren Sie es jetzt: Es wird nicht noch einmal gezeigt.',
    another: 'Neues Token',
    name: 'Name',
    nameHint: 'Wofür es ist.',
    nameMissing: 'Geben Sie einen Namen ein.',
    withAccount: 'Es darf auch mein Konto verwalten',
    withAccountHint:
      'Tokens, Anwendungen und Anmeldungen, und die Konten anderer, wenn Ihnen dieser Server gehört. Nur für Programme, die das brauchen.',
    nameless: 'Ohne Namen',
    button: 'Token erstellen',
    revoke: 'Widerrufen',
    revokeOf: (name) => `${name} widerrufen`,
    revoked: 'Das Token ist widerrufen.',
    lastUsed: (ago) => `zuletzt benutzt: ${ago}`,
    neverUsed: 'nie benutzt',
    back: 'Zurück zu Ihrem Konto',
  },

  password: {
    title: 'Passwort ändern',
    text: 'Alle anderen Browser und Anwendungen werden abgemeldet.',
    revokeTokens: 'Auch meine Zugangstoken widerrufen',
    button: 'Passwort ändern',
    cancel: 'Abbrechen',
  },

  docs: {
    title: 'Schnittstelle für Programme',
    lead: 'Alles, worum Programme diesen Server bitten können, und wie; auf Englisch. Für die Programme selbst:',
    contents: 'Inhalt',
  },

  errors: {
    home: 'Zur Startseite',
    again: 'Noch einmal versuchen',
    outdatedTitle: 'Diese Seite ist nicht mehr aktuell',
    outdated: 'Seit sie gezeigt wurde, haben Sie sich an- oder abgemeldet. Es wurde nichts geändert.',
    authorizeTitle: 'Diese Anwendung kann Sie nicht anmelden',
    authorizeAdvice:
      'Mit der Adresse, die Sie hierher gebracht hat, stimmt etwas nicht. Sagen Sie es denen, von denen die Anwendung ist:',
    ownAddressTitle: 'Bitte unter der eigenen Adresse öffnen',
    ownAddress: 'Dieser Server ist unter dieser Adresse zu erreichen:',
    ownAddressAdvice:
      'Wenn sie nicht hierher führt, setzt, wer den Server betreibt, seine Option public-url auf die Adresse, die es tut, und startet ihn neu.',
    byStatus: (status, retryAfterSeconds) => describeStatus(status, retryAfterSeconds),
  },

  ago: createAgo('de', 'gerade eben'),
}

function inTime(seconds: number): string {
  if (seconds <= 1) return 'in einer Sekunde'
  if (seconds < 90) return `in ${seconds} Sekunden`
  return `in ${Math.ceil(seconds / 60)} Minuten`
}

function days(count: number): string {
  return count === 1 ? 'einen Tag' : `${count} Tage`
}

function describeStatus(status: number, retryAfterSeconds: number): { title: string; advice: string } {
  switch (status) {
    case 403:
      return {
        title: 'Nicht erlaubt',
        advice: 'Das wurde nicht von einer Seite dieses Servers geschickt; darum ist nichts geschehen.',
      }
    case 404:
      return { title: 'Seite nicht gefunden', advice: 'Unter dieser Adresse gibt es keine Seite.' }
    case 405:
      return { title: 'Nicht möglich', advice: 'Diese Adresse lässt sich so nicht benutzen.' }
    case 413:
      return { title: 'Zu viel', advice: 'Was geschickt wurde, ist zu lang.' }
    case 429:
      return { title: 'Zu viele Anfragen', advice: `Bitte versuchen Sie es ${inTime(retryAfterSeconds)} noch einmal.` }
    case 503:
      return {
        title: 'Nicht verfügbar',
        advice: 'Der Server kann gerade nicht antworten. Bitte versuchen Sie es bald noch einmal.',
      }
    default:
      return status >= 500
        ? { title: 'Etwas ist schiefgegangen', advice: 'Es liegt nicht an Ihnen. Der Server hat notiert, was geschah.' }
        : { title: 'Das hat nicht geklappt', advice: 'Die Anfrage war nicht zu lesen.' }
  }
}
