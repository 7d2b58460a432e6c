// The German texts of the account pages. They use the same terms as the German dashboard (web/texts/german.ts).

import { passwordLength } from '../../../model/account-fault.ts'
import { createAgo } from './ago.ts'
import { germanFaults } from './german-faults.ts'
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
    currentPassword: 'Aktuelles Passwort',
    firstName: 'Vorname',
    lastName: 'Nachname',
    setUpCode: 'Einrichtungscode',
    showPassword: 'Passwort anzeigen',
    passwordStrengths: ['Zu leicht zu erraten', 'Ausreichend', 'Stark', 'Sehr stark'],
    passwordHint: `Mindestens ${passwordLength.min} Zeichen. Mehrere Wörter ohne Zusammenhang sind leicht zu merken und schwer zu erraten.`,
  },

  problems: {
    emailMissing: 'Geben Sie Ihre E-Mail-Adresse ein.',
    emailWrong: 'Geben Sie eine gültige E-Mail-Adresse ein, zum Beispiel name@example.com.',
    passwordMissing: 'Geben Sie Ihr Passwort ein.',
    newPasswordMissing: 'Geben Sie ein neues Passwort ein.',
    firstNameMissing: 'Geben Sie Ihren Vornamen ein.',
    codeMissing: 'Geben Sie den Einrichtungscode ein.',
    passwordWrong: 'Das Passwort ist falsch.',
    signInWrong: 'E-Mail-Adresse oder Passwort ist falsch.',
    secondFactorMissing: 'Geben Sie den Code ein.',
    secondFactorWrong:
      'Der Code ist falsch oder wurde bereits verwendet. Ihre Authenticator-App zeigt alle 30 Sekunden einen neuen Code.',
    passkeyWrong:
      'Ihr Passkey konnte nicht überprüft werden. Versuchen Sie es noch einmal, oder melden Sie sich auf andere Weise an.',
    outdated: 'Diese Seite ist abgelaufen. Versuchen Sie es noch einmal.',
    tooMany: (seconds) => `Zu viele Versuche. Versuchen Sie es ${inTime(seconds)} noch einmal.`,
    busy: 'Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.',
  },

  faults: germanFaults,

  signIn: {
    title: 'Anmelden',
    forApp: (appName) => `weiter zu ${appName}`,
    button: 'Anmelden',
    passkey: 'Mit Passkey anmelden',
    forgot: 'Passwort vergessen?',
    signUp: 'Konto anlegen',
    done: {
      signedOut: 'Sie wurden abgemeldet.',
      passwordChanged: 'Ihr Passwort wurde geändert. Melden Sie sich mit dem neuen Passwort an.',
      late: 'Ihre Anmeldung ist abgelaufen. Melden Sie sich noch einmal an.',
    },
  },

  passkeys: {
    failed: 'Es wurde kein passender Passkey gefunden, oder der Vorgang wurde abgebrochen.',
  },

  secondStep: {
    title: 'Zwei-Faktor-Authentifizierung',
    text: (email) => `Bestätigen Sie, dass Sie ${email} sind.`,
    passkey: 'Passkey verwenden',
    code: 'Code',
    codeHint: 'Geben Sie den sechsstelligen Code aus Ihrer Authenticator-App oder einen Wiederherstellungscode ein.',
    recoveryHint: 'Geben Sie einen Ihrer Wiederherstellungscodes ein.',
    button: 'Weiter',
    lost: 'Sie haben weder Passkey noch App noch Wiederherstellungscode zur Hand? Bitten Sie den Administrator dieses Servers, Ihren zweiten Faktor zu entfernen.',
    back: 'Anderes Konto verwenden',
  },

  secondFactor: {
    title: 'Zwei-Faktor-Authentifizierung',
    textOn:
      'Die Zwei-Faktor-Authentifizierung ist eingeschaltet. Zur Anmeldung mit Ihrem Passwort brauchen Sie zusätzlich einen Passkey oder einen Code.',
    textOff:
      'Schützen Sie Ihr Konto zusätzlich zum Passwort mit einem Passkey oder einem Code. Beim Einschalten werden Ihre anderen Browser abgemeldet. Anwendungen und persönliche Zugriffstoken funktionieren weiterhin.',
    needed:
      'Für Eigentümer dieses Servers ist die Zwei-Faktor-Authentifizierung vorgeschrieben. Richten Sie sie ein, um fortzufahren.',
    passkeys: 'Passkeys',
    passkeysText:
      'Melden Sie sich mit einem Smartphone, Computer oder Sicherheitsschlüssel an, den Sie per Fingerabdruck, Gesicht oder PIN entsperren.',
    noPasskeys:
      'Passkeys sind nicht verfügbar, weil dieser Server über eine IP-Adresse statt über einen Domainnamen erreicht wird.',
    noScript: 'Passkeys erfordern JavaScript und einen Browser, der sie unterstützt.',
    passkeyName: 'Name',
    passkeyNameHint: 'Zum Beispiel „Mein Smartphone“.',
    nameless: 'Passkey ohne Namen',
    addPasskey: 'Passkey hinzufügen',
    app: 'Authenticator-App',
    appText: 'Eine App auf Ihrem Smartphone, die alle 30 Sekunden einen neuen sechsstelligen Code zeigt.',
    addApp: 'Authenticator-App hinzufügen',
    addedAgo: (ago) => `hinzugefügt: ${ago}`,
    usedAgo: (ago) => `zuletzt verwendet: ${ago}`,
    remove: 'Entfernen',
    removeOf: (name) => `${name} entfernen`,
    codes: 'Wiederherstellungscodes',
    codesLeft: (count) =>
      `Verwenden Sie einen Wiederherstellungscode, wenn Sie weder einen Passkey noch Ihre Authenticator-App nutzen können. Sie haben noch ${count === 1 ? 'einen Code' : `${count} Codes`}. Jeder Code gilt nur einmal.`,
    newCodes: 'Neue Codes erstellen',
    owners: 'Eigentümer dieses Servers',
    ownersNeed:
      'Für Eigentümer ist die Zwei-Faktor-Authentifizierung vorgeschrieben. Wer sie noch nicht eingerichtet hat, wird bei der Anmeldung dazu aufgefordert.',
    ownersFree: 'Für Eigentümer ist die Zwei-Faktor-Authentifizierung freiwillig.',
    askOwners: 'Für alle Eigentümer vorschreiben',
    freeOwners: 'Nicht mehr vorschreiben',
    done: {
      added: 'Der zweite Faktor wurde hinzugefügt.',
      removed: 'Der zweite Faktor wurde entfernt.',
      required: 'Die Zwei-Faktor-Authentifizierung ist jetzt für Eigentümer vorgeschrieben.',
      notRequired: 'Die Zwei-Faktor-Authentifizierung ist jetzt für Eigentümer freiwillig.',
    },
  },

  authenticatorApp: {
    title: 'Authenticator-App hinzufügen',
    text: 'Scannen Sie diesen QR-Code mit Ihrer Authenticator-App.',
    qrCode: 'QR-Code für die Authenticator-App',
    typed: 'Oder geben Sie diesen Schlüssel in der App ein:',
    code: 'Code',
    codeHint: 'Geben Sie den sechsstelligen Code ein, den die App zeigt.',
    button: 'Hinzufügen',
  },

  recoveryCodes: {
    title: 'Ihre Wiederherstellungscodes',
    text: 'Mit einem dieser Codes können Sie sich anmelden, wenn Sie weder einen Passkey noch Ihre Authenticator-App nutzen können. Jeder Code gilt nur einmal.',
    download: 'Als Datei speichern',
    once: 'Drucken Sie die Codes aus oder schreiben Sie sie auf, und bewahren Sie sie sicher auf. Sie werden nicht wieder angezeigt.',
    next: 'Ich habe die Codes gespeichert',
  },

  signOut: {
    title: 'Abmelden',
    text: (name) => `Sie sind als ${name} angemeldet.`,
    button: 'Abmelden',
    stay: 'Angemeldet bleiben',
  },

  consent: {
    title: (appName) => `${appName} Zugriff auf Ihr Konto erlauben?`,
    asks: (appName) => `${appName} möchte auf Ihr Konto zugreifen. Die Anwendung darf dann:`,
    owner: 'Registriert von',
    target: 'Weiterleitung an',
    lifetime: 'Zugriff gilt',
    lasts: (idleDays, mostDays) => {
      const idle = `bis Sie ihn widerrufen oder die Anwendung ${days(idleDays)} lang nicht verwendet wird`
      return mostDays === undefined ? idle : `${idle}, höchstens jedoch ${days(mostDays)}`
    },
    account: 'Angemeldet als',
    notYou: 'Anderes Konto verwenden',
    caution:
      'Erlauben Sie den Zugriff nur Anwendungen, denen Sie vertrauen. Auf Ihrer Kontoseite können Sie ihn jederzeit widerrufen.',
    allow: 'Erlauben',
    deny: 'Ablehnen',
    changed: 'Die Anwendung wurde inzwischen geändert. Kehren Sie zu ihr zurück und beginnen Sie von vorn.',
  },

  scopes: {
    user_access: 'Alle Ihre Kameras, Aufzeichnungen, Gäste und Ereignisse ansehen und ändern',
    read: 'Ihre Kameras, Livebilder, Aufzeichnungen, Gäste und Ereignisse ansehen',
    write: 'Kameras, Aufzeichnungen, Gäste und Ereignisse hinzufügen, ändern und entfernen',
    camera_access: 'Ihre Kameras und deren Livebilder ansehen',
    camera_guest_access: 'Sehen, mit wem Ihre Kameras geteilt sind',
    recording_access: 'Aufzeichnungen ansehen',
    event_access: 'Ereignisse ansehen',
    camera_create: 'Kameras hinzufügen',
    camera_manage: 'Kameras ändern',
    camera_delete: 'Kameras entfernen',
    camera_guest_manage: 'Ihre Kameras mit anderen teilen und die Freigabe wieder aufheben',
    recording_manage: 'Die Aufzeichnung ein- und ausschalten und die Aufbewahrungsdauer ändern',
    recording_start_stop: 'Die Aufzeichnung starten und beenden',
    event_manage: 'Ereignisse melden',
    account_manage:
      'Ihr Konto verwalten: Zugriffstoken erstellen und widerrufen, Anwendungen registrieren, Sitzungen beenden und eine Änderung der E-Mail-Adresse oder des Passworts anfordern. Wenn Sie Eigentümer dieses Servers sind, auch die Konten anderer Benutzer verwalten',
  },

  setUp: {
    title: 'Server einrichten',
    text: 'Legen Sie das Konto des Eigentümers an. Den Einrichtungscode finden Sie auf der Konsole des Servers.',
    button: 'Konto anlegen',
  },

  invitation: {
    title: 'Sie wurden eingeladen',
    text: 'Legen Sie Ihr Konto auf diesem Server an.',
    textFrom: (inviter) => `${inviter} hat Sie eingeladen, ein Konto auf diesem Server anzulegen.`,
    textShared: (inviter, camera) =>
      `${inviter} hat ${camera === undefined ? 'eine Kamera' : `die Kamera ${camera}`} mit Ihnen geteilt. Legen Sie ein Konto an, um sie anzusehen.`,
    forEmail: 'Sie melden sich künftig an als',
    button: 'Konto anlegen',
    memberTitle: 'Sie haben bereits ein Konto',
    member: (email) =>
      `Für ${email} gibt es bereits ein Konto. Melden Sie sich an, um zu sehen, was mit Ihnen geteilt wurde.`,
    invalidTitle: 'Diese Einladung ist ungültig',
    invalid:
      'Die Einladung wurde bereits verwendet, ist abgelaufen oder wurde durch eine neuere ersetzt. Bitten Sie die Person, die Sie eingeladen hat, um eine neue Einladung.',
  },

  certificate: {
    title: 'Diesem Server vertrauen',
    lead: 'Das Zertifikat dieses Servers hat eine eigene Zertifizierungsstelle ausgestellt, die Ihr Gerät nicht kennt. Installieren Sie sie einmal auf jedem Gerät. Danach warnen Browser nicht mehr, und iPhones und iPads spielen Videos ab.',
    download: 'Zertifikat herunterladen',
    compare: 'Vergleichen Sie vorher den SHA-256-Fingerabdruck mit dem, den der Server bei seinem Start ausgibt:',
    steps: [
      [
        'iPhone und iPad',
        'Laden Sie es in Safari herunter. Öffnen Sie Einstellungen → Profil geladen und installieren Sie es. Schalten Sie es dann unter Einstellungen → Allgemein → Info → Zertifikatsvertrauenseinstellungen ein.',
      ],
      [
        'Android',
        'Suchen Sie in den Einstellungen nach „CA-Zertifikat“, wählen Sie „Trotzdem installieren“ und dann die Datei.',
      ],
      [
        'Windows',
        'Öffnen Sie die Datei und wählen Sie Zertifikat installieren → Lokaler Computer → Alle Zertifikate in folgendem Speicher speichern → Vertrauenswürdige Stammzertifizierungsstellen.',
      ],
      [
        'macOS',
        'Öffnen Sie die Datei, um sie der Schlüsselbundverwaltung hinzuzufügen. Öffnen Sie sie dort und wählen Sie unter Vertrauen „Immer vertrauen“.',
      ],
      [
        'Linux, und Firefox auf jedem System',
        'Öffnen Sie Einstellungen → Datenschutz & Sicherheit → Zertifikate → Zertifizierungsstellen → Importieren. Chromium hat dieselbe Liste unter chrome://certificate-manager.',
      ],
    ],
    limits:
      'Die Zertifizierungsstelle kann nur für diesen Server, für Namen wie „nas.local“ und für Adressen privater Netze bürgen. Als andere Website kann sie sich nicht ausgeben.',
  },

  signUp: {
    title: 'Konto anlegen',
    text: 'Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen einen Link, mit dem Sie fortfahren können.',
    button: 'Link senden',
    sentTitle: 'Sehen Sie in Ihrem Postfach nach',
    sent: (email) => `Wenn für ${email} ein Konto angelegt werden kann, erhalten Sie in Kürze einen Link.`,
  },

  resetRequest: {
    title: 'Passwort vergessen?',
    text: 'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort festlegen können.',
    button: 'Link senden',
    sentTitle: 'Sehen Sie in Ihrem Postfach nach',
    sent: (email) =>
      `Wenn es für ${email} ein Konto gibt, erhalten Sie einen Link, mit dem Sie ein neues Passwort festlegen können. Der Link gilt eine Stunde.`,
    sentHint:
      'Keine E-Mail erhalten? Sehen Sie im Spam-Ordner nach, oder versuchen Sie es in einigen Minuten noch einmal.',
    noMailServer:
      'Dieser Server hat keinen Mailserver und kann keine E-Mails senden. Wer ihn betreibt, findet den Link im Ordner „outbox“ des Servers und kann mit „nightjar user passwd“ ein Passwort festlegen.',
    back: 'Zurück zur Anmeldung',
  },

  reset: {
    title: 'Neues Passwort festlegen',
    text: 'Sie werden in allen Browsern und Anwendungen abgemeldet.',
    revokeTokens: 'Auch meine persönlichen Zugriffstoken widerrufen',
    revokeTokensHint: 'Wählen Sie das aus, wenn jemand anderes Zugriff auf Ihr Konto gehabt haben könnte.',
    button: 'Passwort ändern',
    invalidTitle: 'Dieser Link ist ungültig',
    invalid: 'Der Link wurde bereits verwendet oder ist abgelaufen.',
    another: 'Neuen Link anfordern',
  },

  email: {
    requestTitle: 'E-Mail-Adresse ändern',
    requestText: (email) => `Ihre E-Mail-Adresse ist ${email}. Wir senden einen Link an die neue Adresse.`,
    requestButton: 'Link senden',
    newAddress: 'Neue E-Mail-Adresse',
    sentTitle: 'Sehen Sie in Ihrem Postfach nach',
    sent: (email) =>
      `Wir haben einen Link an ${email} gesendet. Ihre E-Mail-Adresse ändert sich erst, wenn Sie den Link öffnen und die neue Adresse bestätigen.`,
    back: 'Zurück zu Ihrem Konto',
    title: 'Neue E-Mail-Adresse bestätigen',
    text: (email, former) =>
      `Ihre E-Mail-Adresse wird von ${former} in ${email} geändert. Sie melden sich dann mit der neuen Adresse an, und Ihre anderen Browser und Anwendungen werden abgemeldet.`,
    button: 'E-Mail-Adresse bestätigen',
    doneTitle: 'E-Mail-Adresse geändert',
    done: 'Melden Sie sich ab jetzt mit Ihrer neuen E-Mail-Adresse an.',
    otherTitle: 'Dieser Link gehört zu einem anderen Konto',
    other: (email) =>
      `Sie sind als ${email} angemeldet. Melden Sie sich mit dem Konto an, dessen E-Mail-Adresse Sie ändern möchten.`,
    otherButton: 'Anderes Konto verwenden',
    invalidTitle: 'Dieser Link ist ungültig',
    invalid: 'Der Link wurde bereits verwendet oder ist abgelaufen.',
  },

  confirm: {
    title: 'Identität bestätigen',
    text: 'Geben Sie Ihr Passwort ein, um fortzufahren.',
    button: 'Weiter',
  },

  providers: germanProviders,

  account: {
    title: 'Ihr Konto',
    signOut: 'Abmelden',
    changePassword: 'Passwort ändern',
    changeEmail: 'E-Mail-Adresse ändern',
    apps: 'Verbundene Anwendungen',
    noApps: 'Keine verbundenen Anwendungen.',
    endApp: 'Zugriff widerrufen',
    endAppOf: (name) => `Zugriff widerrufen: ${name}`,
    browsers: 'Angemeldete Browser',
    thisBrowser: 'dieser Browser',
    endBrowser: 'Abmelden',
    endBrowserOf: (name) => `${name} abmelden`,
    endOthers: 'Alle anderen Browser abmelden',
    lastUsed: 'zuletzt verwendet:',
    unknownBrowser: 'Unbekannter Browser',
    browserOn: (browser, system) => `${browser} unter ${system}`,
    done: {
      password: 'Ihr Passwort wurde geändert. Alle anderen Browser und Anwendungen wurden abgemeldet.',
      app: 'Die Anwendung hat keinen Zugriff mehr.',
      session: 'Der Browser wurde abgemeldet.',
      sessions: 'Alle anderen Browser wurden abgemeldet.',
      shared: 'Ihr Konto ist bereit. Sie können die Kamera, die mit Ihnen geteilt wurde, jetzt ansehen.',
    },
  },

  tokens: {
    title: 'Persönliche Zugriffstoken',
    text: 'Mit einem Token kann ein eigenes Programm Ihre Kameras ansehen und ändern. Das Token läuft nicht ab. Bewahren Sie es so sicher auf wie ein Passwort.',
    docs: 'So verwenden Sie Token (englisch)',
    made: 'Das ist Ihr neues Token. Kopieren Sie es jetzt. Es wird nicht wieder angezeigt.',
    another: 'Neues Token',
    name: 'Name',
    nameHint: 'Zum Beispiel der Name des Programms.',
    nameMissing: 'Geben Sie einen Namen ein.',
    withAccount: 'Das Token darf auch mein Konto verwalten',
    withAccountHint:
      'Dazu gehören Ihre Token, Anwendungen und Sitzungen sowie die Konten anderer Benutzer, wenn Sie Eigentümer dieses Servers sind. Nur für Programme, die das brauchen.',
    nameless: 'Token ohne Namen',
    button: 'Token erstellen',
    revoke: 'Widerrufen',
    revokeOf: (name) => `${name} widerrufen`,
    revoked: 'Das Token wurde widerrufen.',
    lastUsed: (ago) => `zuletzt verwendet: ${ago}`,
    neverUsed: 'nie verwendet',
    back: 'Zurück zu Ihrem Konto',
  },

  password: {
    title: 'Passwort ändern',
    text: 'Alle anderen Browser und Anwendungen werden abgemeldet.',
    revokeTokens: 'Auch meine persönlichen Zugriffstoken widerrufen',
    button: 'Passwort ändern',
    cancel: 'Abbrechen',
  },

  docs: {
    title: 'API-Dokumentation',
    lead: 'Diese Seite beschreibt die API dieses Servers (auf Englisch). Dieselbe Beschreibung für Werkzeuge, im OpenAPI-Format:',
    contents: 'Inhalt',
  },

  errors: {
    home: 'Zur Startseite',
    again: 'Erneut versuchen',
    outdatedTitle: 'Diese Seite ist veraltet',
    outdated: 'Sie haben sich an- oder abgemeldet, seit diese Seite geladen wurde. Es wurde nichts geändert.',
    authorizeTitle: 'Diese Anwendung kann Sie nicht anmelden',
    authorizeAdvice:
      'Der Link, über den Sie hierher gelangt sind, ist ungültig. Melden Sie diesen Fehler dem Entwickler der Anwendung:',
    ownAddressTitle: 'Öffnen Sie diesen Server unter seiner öffentlichen URL',
    ownAddress: 'Die öffentliche URL dieses Servers lautet',
    ownAddressAdvice:
      'Wenn diese URL nicht funktioniert, muss der Administrator des Servers die Option public-url auf die richtige URL setzen und den Server neu starten.',
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
        advice: 'Die Anfrage kam nicht von einer Seite dieses Servers. Es wurde nichts geändert.',
      }
    case 404:
      return { title: 'Seite nicht gefunden', advice: 'Unter dieser URL gibt es keine Seite.' }
    case 405:
      return { title: 'Anfrage nicht unterstützt', advice: 'Diese Seite unterstützt diese Art von Anfrage nicht.' }
    case 413:
      return { title: 'Anfrage zu groß', advice: 'Das Formular enthält zu viel Text.' }
    case 429:
      return { title: 'Zu viele Anfragen', advice: `Versuchen Sie es ${inTime(retryAfterSeconds)} noch einmal.` }
    case 503:
      return {
        title: 'Server nicht verfügbar',
        advice: 'Der Server kann zurzeit nicht antworten. Versuchen Sie es gleich noch einmal.',
      }
    default:
      return status >= 500
        ? {
            title: 'Etwas ist schiefgegangen',
            advice: 'Auf dem Server ist ein Fehler aufgetreten. Einzelheiten stehen in seinem Protokoll.',
          }
        : { title: 'Ungültige Anfrage', advice: 'Der Server konnte die Anfrage nicht lesen.' }
  }
}
