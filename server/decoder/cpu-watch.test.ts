import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../test/support/until.ts'
import { ProcessorWait } from './cpu-watch.ts'
import { noIsolation } from './isolation/isolation.ts'
import { openIsolation } from './isolation/open-isolation.ts'
import { MessageChild } from './message-child.ts'

const windowMs = 1000

/** A compromised process that keeps a processor busy. */
function start(attack: 'hang' | 'nothing', isolation: typeof noIsolation, maxCpuShare: number) {
  const exit = Promise.withResolvers<string>()
  const started = Promise.withResolvers<void>()
  const child = new MessageChild({
    program: new URL('./isolation/test-attacks.ts', import.meta.url),
    args: [JSON.stringify({}), attack],
    isolation,
    memoryBytes: 2 ** 28,
    maxCpuShare,
    cpuWindowMs: windowMs,
    onMessage: () => started.resolve(),
    onExit: exit.resolve,
  })
  return { child, started: started.promise, exit: exit.promise }
}

const skip = existsSync('/proc/self/stat') ? false : 'this system has no /proc'

test('a process that keeps a processor busy is ended together with its sandbox', {
  skip,
}, async () => {
  for (const isolation of [noIsolation, await openIsolation({ mode: 'auto' })]) {
    // A low limit, because the process shares the processors with everything else on a busy system.
    const { child, exit } = start('hang', isolation, 0.1)
    assert.match(await exit, /kept a processor busy/)
    await until(() => !existsSync(`/proc/${child.pid}/fd/0`))
  }
})

test('a process that starts and then waits is not ended', { skip }, async () => {
  const { child, started, exit } = start('nothing', await openIsolation({ mode: 'auto' }), 0.5)
  await started
  assert.equal(await Promise.race([exit, delay(3 * windowMs, 'is not ended')]), 'is not ended')
  await child.stop()
})

test('a process that gets no processor is told from one that is stopped', {
  skip: existsSync('/proc/self/schedstat') ? false : 'this system does not count how long processes wait',
}, async (t) => {
  const [processor] = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))!.slice(1)
  const pids = Array.from({ length: 4 }, () => {
    const child = spawn('taskset', ['-c', processor!, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' })
    t.after(() => child.kill('SIGKILL'))
    return child.pid!
  })
  const stopped = pids.pop()!
  await delay(1000)
  process.kill(stopped, 'SIGSTOP')
  await until(() => /\) T /.test(readFileSync(`/proc/${stopped}/stat`, 'latin1')))
  const busy = pids.map((pid) => new ProcessorWait(pid))
  const waits = new ProcessorWait(stopped)
  await delay(1000)
  assert.deepEqual(
    busy.map((each) => each.isLacking()),
    [true, true, true],
    'each has a third of a processor at most',
  )
  assert.equal(waits.isLacking(), false)
})
