// What no answer may be, whatever was sent: a failure inside, words about the inside, something of an account that the sender is not, a header
// that the sender made up.

import type { Attack } from './attack.ts'
import type { RawAnswer } from './read-answers.ts'

const inner = /\bat .{1,200}:\d+:\d+|node_modules|\bSQLITE_|\/(?:tmp|home|root|usr|var)\/[\w/]/

/** Pages of the documentation and images have words of their own. */
const maxJudged = 20_000

/** In words; none when all is well. `forbidden`: what whoever sent it may not be told. */
export function judgeAnswers(
  attack: Attack,
  bytes: Buffer,
  answers: readonly RawAnswer[],
  forbidden: readonly Buffer[],
): string[] {
  const faults: string[] = []
  const sent = Buffer.concat(attack.writes)
  for (const mark of forbidden) {
    // What they said themselves they may be told.
    if (bytes.includes(mark) && !sent.includes(mark)) faults.push(`the answer tells ${mark}: ${cut(bytes, mark)}`)
  }
  for (const { status, headers, body } of answers) {
    if (status >= 500) faults.push(`answered ${status} ${body.toString('latin1', 0, 300)}`)
    if (attack.mustFail && status >= 200 && status < 300) faults.push(`answered ${status}, and must not succeed`)
    if (status >= 400 && body.length < maxJudged) {
      const found = inner.exec(body.toString('latin1'))
      if (found) faults.push(`the answer tells of the inside: ${found[0].slice(0, 200)}`)
    }
    if ('x-injected' in headers) faults.push('a header that was made up')
  }
  return faults
}

const cut = (bytes: Buffer, mark: Buffer) => {
  const at = bytes.indexOf(mark)
  return JSON.stringify(bytes.toString('latin1', Math.max(0, at - 150), at + mark.length + 50))
}
