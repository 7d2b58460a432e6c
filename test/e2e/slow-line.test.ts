// A browser at the end of a line that becomes slower than the stream: Chromium in a network namespace of its own, whose
// link is limited by the system, with all the buffers that real lines have.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { launchOwnChromium, readClock } from './browser.ts'
import { openDashboard, shoot } from './dashboard-scene.ts'

const scope = `nightjar-${process.pid}`
/** The ends of the line: on the host, where the server listens, and in the namespace. */
const [hostEnd, farEnd] = [`nja${process.pid}`, `njb${process.pid}`]
const network = `10.213.${process.pid % 250}`
const limit = (kilobits: number) =>
  `tc qdisc replace dev ${hostEnd} root tbf rate ${kilobits}kbit burst 16kb latency 400ms`

test('on a line that becomes too slow, the image is some seconds old, and the dashboard answers', async (t) => {
  const opening = [
    `ip netns add ${scope}`,
    `ip link add ${hostEnd} type veth peer name ${farEnd} netns ${scope}`,
    `ip addr add ${network}.1/30 dev ${hostEnd}`,
    `ip link set ${hostEnd} up`,
    `ip -n ${scope} addr add ${network}.2/30 dev ${farEnd}`,
    `ip -n ${scope} link set ${farEnd} up`,
    `ip -n ${scope} link set lo up`,
    limit(100_000),
  ]
  await using held = new AsyncDisposableStack()
  held.defer(() => void [`ip link del ${hostEnd}`, `ip netns del ${scope}`].map(run))
  const problem = opening.map(run).find((each) => each !== undefined)
  if (problem !== undefined) return t.skip(`no network namespaces here: ${problem}`)

  const newest = { unixMs: 0 }
  const camera = await openFakeCamera({
    streams: [{ name: 'door', width: 1280, height: 720, framesPerSecond: 25, bitsPerSecond: 2_000_000 }],
    onSent: (_, { unixMs }) => {
      newest.unixMs = unixMs
    },
  })
  held.use(camera)
  const scene = held.use(await openDashboard(() => openServer('--host', '0.0.0.0')))
  const id = await scene.server.addCamera('door', camera.url('door'))
  const launcher = join(held.adopt(mkdtempSync(join(tmpdir(), 'nightjar-line-')), (it) => rmSync(it, { recursive: true })), 'chromium') // biome-ignore format: one line
  writeFileSync(launcher, `#!/bin/sh\nexec ip netns exec ${scope} chromium-headless-shell "$@"\n`, { mode: 0o755 })
  const browser = held.adopt(
    await launchOwnChromium([`--host-resolver-rules=MAP localhost ${network}.1`], launcher),
    (each) => each.close(),
  )
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const path = `/cameras/${id}`
  await scene.signIn(page, path)
  const readAgeMs = async (selector: string) => {
    const clock = await readClock(page, selector).catch(() => undefined)
    return clock && newest.unixMs - clock.code.unixMs
  }
  const isLive = () =>
    eventually('it is live', 40_000, async () => {
      const ageMs = await readAgeMs('.stage video')
      return ageMs !== undefined && ageMs < 2000
    })
  await isLive()

  // The stream takes 1.5 Mbit/s.
  run(limit(500))
  const ages: number[] = []
  const answers: number[] = []
  const endMs = performance.now() + 30_000
  while (performance.now() < endMs) {
    const askedMs = performance.now()
    assert.equal(await page.evaluate<number>("fetch('/healthz').then(({ status }) => status)"), 200)
    answers.push(performance.now() - askedMs)
    const ageMs = (await readAgeMs('.stage video')) ?? (await readAgeMs('.stage img'))
    if (ageMs !== undefined) ages.push(ageMs)
    await sleep(500)
  }
  await shoot(page, 'slow-line')
  const median = (values: number[]) => values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Infinity
  const report = `images ${ages.map(Math.round)} ms old, answers after ${answers.map(Math.round)} ms`
  // Both were 15 to 20 s while as much was sent as the buffers of the system take.
  assert.ok(median(ages) <= 9000 && median(answers) <= 7000, report)

  run(limit(100_000))
  const retry = page.getByRole('button', { name: 'Try again' })
  if (await retry.isVisible()) await retry.click()
  await isLive()
  assert.deepEqual(scene.complaints, [])
})

/** Returns what went wrong. */
function run(command: string): string | undefined {
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  return status === 0 ? undefined : `${command}: ${stderr.trim()}`
}
