// How many guesses an attacker needs for a password: an estimate by zxcvbn from lists of leaked passwords, dates,
// keyboard patterns, repetitions and common substitutions. Import it dynamically: its lists take 7 MB of memory and 0.1
// s to load, and few processes ever set a password.

import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/**
 * The time of an estimate grows with the square of the length. A password whose start is hard to guess is hard to
 * guess.
 */
const maxLength = 40
const maxSubstitutions = 10

/** Words that attackers of a camera server are likely to try. */
const productWords = ['nightjar', 'camera', 'cameras', 'webcam', 'ipcam', 'hikvision', 'dahua', 'axis', 'passwort']

const estimator = new ZxcvbnFactory({
  dictionary: { ...dictionary, productWords },
  graphs: adjacencyGraphs,
  maxLength,
  l33tMaxSubstitutions: maxSubstitutions,
})

/**
 * `about` contains words that an attacker knows about the user, such as the email address. Usually takes 0.2 ms, 10 ms
 * at worst.
 */
export function estimateGuesses(password: string, about: readonly string[] = []): number {
  return estimator.check(password, [...about]).guesses
}
