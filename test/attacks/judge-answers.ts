// What no response may contain, whatever was sent: an internal error, internal details, data of other accounts, or a
// header that the sender injected.

import type { Attack } from './attack.ts'
import type { RawAnswer } from './read-answers.ts'

const inner = /\bat .{1,200}:\d+:\d+|node_modules|\bSQLITE_|\/(?:tmp|home|root|usr|var)\/[\w/]/

/** Pages of the documentation and images may contain these texts. */
const maxJudged = 20_000

/** Returns one message per violation. `forbidden` lists the marks that the sender may not see. */
export function judgeAnswers(
  attack: Attack,
  bytes: Buffer,
  answers: readonly RawAnswer[],
  forbidden: readonly Buffer[],
): string[] {
  const faults: string[] = []
  const sent = Buffer.concat(attack.writes)
  for (const mark of forbidden) {
    // The response may repeat what the sender sent.
    if (bytes.includes(mark) && !sent.includes(mark)) faults.push(`the response contains ${mark}: ${cut(bytes, mark)}`)
  }
  for (const { status, headers, body } of answers) {
    if (status >= 500) faults.push(`answered ${status} ${body.toString('latin1', 0, 300)}`)
    if (attack.mustFail && status >= 200 && status < 300)
      faults.push(`answered ${status}, although it must not succeed`)
    if (status >= 400 && body.length < maxJudged) {
      const found = inner.exec(body.toString('latin1'))
      if (found) faults.push(`the response contains internal details: ${found[0].slice(0, 200)}`)
    }
    if ('x-injected' in headers) faults.push('the response contains an injected header')
  }
  return faults
}

const cut = (bytes: Buffer, mark: Buffer) => {
  const at = bytes.indexOf(mark)
  return JSON.stringify(bytes.toString('latin1', Math.max(0, at - 150), at + mark.length + 50))
}
