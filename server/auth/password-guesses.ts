// How many guesses an attacker needs for a password: an estimate by zxcvbn from lists of leaked passwords and of words,
// dates, keyboard patterns, repetitions and common substitutions. Import it dynamically: its lists take 7 MB of memory
// and 0.1 s to load, and few processes ever set a password.

import { createRequire } from 'node:module'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/**
 * The time of an estimate grows with the square of the length. A password whose start is hard to guess is hard to
 * guess.
 */
const maxLength = 40
const maxSubstitutions = 10

/** The other lists of this language take 20 MB. Leaked passwords contain the words of English already. */
const germanWords = createRequire(import.meta.url)('@zxcvbn-ts/language-de/dist/commonWords.json.js') as string[]

/** The usual signs, at either end. */
const signGuesses = 20

/** Words that attackers of a camera server are likely to try. */
const productWords = ['nightjar', 'camera', 'cameras', 'webcam', 'ipcam', 'hikvision', 'dahua', 'axis']

const estimator = new ZxcvbnFactory({
  dictionary: { ...dictionary, productWords, germanWords },
  graphs: adjacencyGraphs,
  maxLength,
  l33tMaxSubstitutions: maxSubstitutions,
})

/**
 * `about` contains words that an attacker knows about the user, such as the email address. Usually takes 0.2 ms, 10 ms
 * at worst.
 */
export function estimateGuesses(password: string, about: readonly string[] = []): number {
  const guesses = estimator.check(password, [...about]).guesses
  // zxcvbn counts a sign at an end as any character. It is the first thing that people add, and attackers try.
  const core = password.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
  if (core === '' || core === password) return guesses
  return Math.min(guesses, signGuesses * estimator.check(core, [...about]).guesses)
}
