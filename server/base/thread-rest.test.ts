import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createAlarm, createRest, wake } from './thread-rest.ts'

const longMs = 60_000
const measure = (rest: (ms: number) => void, ms: number) => {
  const beganMs = performance.now()
  rest(ms)
  return performance.now() - beganMs
}

test('a rest lasts as long as requested if the thread is not woken', () => {
  const rest = createRest()
  for (let i = 0; i < 3; i++) assert.ok(measure(rest, 20) >= 19)
})

test('a thread woken before its rest skips it, and rests again afterwards', () => {
  const alarm = createAlarm()
  const rest = createRest(alarm)
  wake(alarm)
  wake(alarm)
  assert.ok(measure(rest, longMs) < longMs / 2)
  assert.ok(measure(rest, 20) >= 19)
})

test('another thread wakes a resting one', async () => {
  const alarm = createAlarm()
  const source = `
    import { workerData } from 'node:worker_threads'
    import { wake } from ${JSON.stringify(new URL('./thread-rest.ts', import.meta.url).href)}
    setTimeout(() => wake(workerData), 50)`
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
  await using worker = new Worker(url, { workerData: alarm })
  assert.ok(measure(createRest(alarm), longMs) < longMs / 2)
  assert.ok(worker.threadId !== undefined)
})
