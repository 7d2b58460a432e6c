import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NewApplication } from '../../contract/account.ts'
import { NewCamera } from '../../contract/camera.ts'
import { NewGuest } from '../../contract/guest.ts'
import { NewRecording } from '../../contract/recording.ts'
import { NightjarError, type NightjarErrorFields } from '../../sdk/error.ts'
import { english } from '../texts/english.ts'
import { german } from '../texts/german.ts'
import { describeFailure, describeFields, type FormName } from './failure-messages.ts'

const refuse = (fields: Partial<NightjarErrorFields>) =>
  new NightjarError({ status: 400, title: 'invalid', detail: 'Words of the server.', ...fields })
const inGerman = (fields: Partial<NightjarErrorFields>, form?: FormName) =>
  describeFailure(refuse(fields), german.failures, form)

test("in English, a refusal shows the server's message", () => {
  const detail = 'email: You cannot invite yourself.'
  const error = refuse({ detail, errors: { email: ['You cannot invite yourself.'] } })
  assert.deepEqual(describeFailure(error, english.failures, 'guests'), { text: detail })
  assert.deepEqual(describeFields(error, english.failures, 'guests'), {
    email: { text: 'You cannot invite yourself.' },
  })
})

test('in German, no refusal is shown in English only, whatever its title', () => {
  const titles =
    'invalid conflict parse_error method_not_allowed unsupported_media_type payload_too_large range_not_satisfiable sign_in_failed access_denied invalid_grant of_a_newer_server'
  for (const title of titles.split(' ')) {
    const { text, said } = inGerman({ title, status: 409 })
    assert.equal(said, 'Words of the server.', title)
    assert.ok(Object.values(german.failures.refused).includes(text), `${title}: ${text}`)
  }
  for (const title of ['http_502', 'invalid_answer']) {
    assert.deepEqual(inGerman({ title }), { text: german.failures.strange, said: 'Words of the server.' })
  }
})

test('unambiguous errors are shown without the server’s message in both languages', () => {
  for (const { failures } of [english, german]) {
    const cases = [
      ['network_error', failures.unreachable],
      ['timeout', failures.unreachable],
      ['not_authenticated', failures.signedOut],
      ['session_ended', failures.signedOut],
      ['permission_denied', failures.forbidden],
      ['not_found', failures.missing],
      ['unavailable', failures.busy],
      ['internal_error', failures.unknown],
      ['rate_limited', failures.tooMany(undefined)],
    ]
    for (const [title, text] of cases) assert.deepEqual(describeFailure(refuse({ title: title! }), failures), { text })
    assert.deepEqual(describeFailure(new TypeError('x is not a function'), failures), { text: failures.unknown })
  }
})

test('waiting times use a suitable unit', () => {
  const wait = (retryAfterSeconds: number) => inGerman({ title: 'rate_limited', retryAfterSeconds }).text
  assert.match(wait(30), /in 30 s /)
  assert.match(wait(600), /in 10 min /)
  assert.match(wait(86_400), /in 24 h /)
})

test('every field that the dashboard sends has words in German, with the server’s behind them', () => {
  const profile = ['first_name', 'last_name']
  const sent = [NewCamera, NewRecording, NewGuest, NewApplication].flatMap(({ properties }) => Object.keys(properties))
  // Chosen from what there is, never wrong (a check, a list), or not in a form.
  const notTyped = [
    'local_retention',
    'type',
    'permissions',
    'confidential',
    'require_secret',
    'allow_password',
    'scope',
  ]
  for (const name of new Set([...sent, ...profile].filter((name) => !notTyped.includes(name)))) {
    const error = refuse({ errors: { [name]: ['It is wrong.'] } })
    const text = german.failures.refusedFields[name]
    assert.ok(text, name)
    assert.deepEqual(describeFields(error, german.failures), { [name]: { text, said: 'It is wrong.' } })
    assert.deepEqual(describeFailure(error, german.failures), { text, said: 'Words of the server.' })
  }
})

test('a form’s own words come before those of all forms, and a field nobody knows has words too', () => {
  const errors = { email: ['It is wrong.'], colour: { red: ['It is too red.'] } }
  const { refusedFields } = german.failures
  assert.deepEqual(describeFields(refuse({ errors }), german.failures, 'guests'), {
    email: { text: refusedFields['guests.email'], said: 'It is wrong.' },
    colour: { text: refusedFields.other, said: 'It is too red.' },
  })
  const { refused } = german.failures
  assert.equal(inGerman({ status: 409, title: 'conflict' }, 'newUser').text, refused['newUser.conflict'])
})

test('errors about the whole form are shown for the form', () => {
  const errors = { non_field_errors: ['You have 3 cameras; this server allows 3 for each account.'] }
  assert.deepEqual(describeFields(refuse({ errors }), german.failures, 'cameras'), {})
  assert.equal(inGerman({ errors }, 'cameras').text, german.failures.refused['cameras.invalid'])
  assert.equal(inGerman({ errors: {} }, 'tokens').text, german.failures.refused['tokens.invalid'])
})
