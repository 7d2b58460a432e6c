// Error messages for failed requests in the language of the page, chosen by the title of the refusal and the names of
// fields. English has few of its own, because the server's messages are in English and more specific.

import { NightjarError } from '../../sdk/index.ts'
import { createErrorMessage, type ErrorMessage } from '../model/error-message.ts'
import { formatWaitingTime } from '../model/waiting-time.ts'
import type { Texts } from '../texts/english.ts'

type FailureTexts = Texts['failures']

/** The form that failed, where it has its own messages. */
export type FormName = 'applications' | 'cameras' | 'guests' | 'identities' | 'newUser' | 'tokens' | 'user'

/** One or two sentences, including what to do. */
export function describeFailure(error: unknown, texts: FailureTexts, form?: FormName): ErrorMessage {
  if (!(error instanceof NightjarError)) return { text: texts.unknown }
  const { title, detail, retryAfterSeconds } = error
  switch (title) {
    case 'network_error':
    case 'timeout':
      return { text: texts.unreachable }
    case 'not_authenticated':
    case 'session_ended':
      return { text: texts.signedOut }
    case 'permission_denied':
      return { text: texts.forbidden }
    case 'not_found':
      return { text: texts.missing }
    case 'rate_limited':
      return { text: texts.tooMany(retryAfterSeconds === undefined ? undefined : formatWaitingTime(retryAfterSeconds)) }
    case 'unavailable':
      return { text: texts.busy }
    case 'internal_error':
      return { text: texts.unknown }
  }
  // Not from our server: a proxy's error page or a truncated response.
  if (title === 'invalid_answer' || title.startsWith('http_')) return { text: texts.strange, said: detail }
  const fields = [...new Set(Object.values(describeFields(error, texts, form)).map(({ text }) => text))]
  const isOwn = texts.refused.other !== undefined
  const own = isOwn && fields.length > 0 ? fields.join(' ') : findOwn(texts.refused, title, form)
  return createErrorMessage(own, detail) ?? { text: texts.unknown }
}

/** Error messages by form field; empty if the failure names no fields. */
export function describeFields(
  error: unknown,
  texts: FailureTexts,
  form?: FormName,
): Readonly<Record<string, ErrorMessage>> {
  if (!(error instanceof NightjarError) || error.status !== 400) return {}
  const messages: Record<string, ErrorMessage> = {}
  for (const [name, reasons] of Object.entries(Object(error.errors) as Record<string, unknown>)) {
    const labels = createErrorMessage(findOwn(texts.refusedFields, name, form), findText(reasons))
    // Errors about the whole form are shown for the form.
    if (labels !== undefined && name !== 'non_field_errors') messages[name] = labels
  }
  return messages
}

/** Messages of the form take precedence. */
function findOwn(
  labels: Readonly<Record<string, string>>,
  name: string,
  form: FormName | undefined,
): string | undefined {
  return labels[`${form}.${name}`] ?? labels[name] ?? labels.other
}

function findText(reasons: unknown): string | undefined {
  if (typeof reasons === 'string') return reasons
  if (typeof reasons !== 'object' || reasons === null) return undefined
  return Object.values(reasons)
    .map(findText)
    .find((text) => text !== undefined)
}
