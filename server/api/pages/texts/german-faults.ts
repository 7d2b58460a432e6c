// The German texts of the errors in model/account-fault.ts.

import { maxPasskeys, maxPersonalTokens, maxPersonNameLength, passwordLength } from '../../../model/account-fault.ts'
import type { Texts } from './texts.ts'

export const germanFaults: Texts['faults'] = {
  account_exists: 'Für diese E-Mail-Adresse gibt es bereits ein Konto.',
  identity_taken: 'Dieses Konto des Anbieters ist bereits mit einem anderen Konto auf diesem Server verknüpft.',
  identity_other:
    'Ihr Konto ist bereits mit einem anderen Konto dieses Anbieters verknüpft. Entfernen Sie zuerst diese Verknüpfung.',
  last_way_in: 'Das ist Ihre einzige Möglichkeit, sich anzumelden. Legen Sie zuerst ein Passwort fest.',
  name_length: `Der Name darf höchstens ${maxPersonNameLength} Zeichen lang sein.`,
  name_characters: 'Der Name darf keine Steuerzeichen enthalten.',
  password_length: `Das Passwort muss ${passwordLength.min} bis ${passwordLength.max} Zeichen lang sein.`,
  password_is_email: 'Das Passwort darf nicht mit der E-Mail-Adresse übereinstimmen.',
  password_common:
    'Dieses Passwort ist zu leicht zu erraten. Wählen Sie ein längeres, zum Beispiel mehrere Wörter ohne Zusammenhang.',
  password_none:
    'Dieses Konto hat kein Passwort. Fordern Sie einen Link an, um eines festzulegen, oder melden Sie sich im Browser über den Anbieter an.',
  password_wrong: 'Das Passwort ist falsch.',
  app_code_wrong: 'Der Code ist falsch. Prüfen Sie, ob die Uhren Ihres Geräts und des Servers richtig gehen.',
  app_exists: 'Es ist bereits eine Authenticator-App eingerichtet. Entfernen Sie diese zuerst.',
  passkey_wrong: 'Der Passkey konnte nicht überprüft werden. Versuchen Sie es noch einmal.',
  passkey_exists: 'Dieser Passkey wird bereits verwendet.',
  passkeys_too_many: `Sie haben bereits ${maxPasskeys} Passkeys. Entfernen Sie einen, den Sie nicht mehr brauchen.`,
  second_factor_required:
    'Für Eigentümer dieses Servers ist ein zweiter Faktor vorgeschrieben. Fügen Sie einen anderen hinzu, bevor Sie diesen entfernen.',
  second_factor_elsewhere:
    'Dieses Konto ist mit einem zweiten Faktor geschützt. Nehmen Sie die Änderung im Browser vor. Dort wird der zweite Faktor abgefragt.',
  setup_code_wrong: 'Der Einrichtungscode ist falsch oder abgelaufen.',
  set_up_already: 'Dieser Server ist bereits eingerichtet.',
  set_up_not_yet: 'Dieser Server ist noch nicht eingerichtet.',
  tokens_too_many: `Sie haben bereits ${maxPersonalTokens} Token. Widerrufen Sie eines, das Sie nicht mehr brauchen.`,
}
