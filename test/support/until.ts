import { setTimeout as delay } from 'node:timers/promises'

/** Ends a test that hangs. A busy machine may take a hundred times as long as a quiet one, and that is no fault. */
const limitMs = 120_000

/** Looks every 5 ms until the condition holds. Throws with its text after two minutes: the limit asserts no speed. */
export async function until(condition: () => unknown): Promise<void> {
  const endMs = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`waited ${limitMs / 1000} s in vain for ${condition}`)
    await delay(5)
  }
}
