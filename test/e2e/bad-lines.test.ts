// A browser at the end of a line that becomes slower than the stream, or that delays and loses packets: Chromium in a network
// namespace of its own. The rate is limited by the system, with all the buffers that real lines have.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createRandom } from '../fake-camera/scene/random.ts'
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
  await using held = new AsyncDisposableStack()
  const problem = openNamespace(held)
  if (problem !== undefined) return t.skip(`no network namespaces here: ${problem}`)
  const { page, scene, isLive, readAgeMs } = await openPage(held, `${network}.1`, 2_000_000)
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
  const report = `images ${ages.map(Math.round)} ms old, answers after ${answers.map(Math.round)} ms`
  // Both were 15 to 20 s while as much was sent as the buffers of the system take.
  assert.ok(median(ages) <= 9000 && median(answers) <= 7000, report)

  run(limit(100_000))
  const retry = page.getByRole('button', { name: 'Try again' })
  if (await retry.isVisible()) await retry.click()
  await isLive()
  assert.deepEqual(scene.complaints, [])
})

test('on a line that delays and loses packets, the video stays, hardly older than the line is long', async (t) => {
  await using held = new AsyncDisposableStack()
  const problem = openNamespace(held)
  if (problem !== undefined) return t.skip(`no network namespaces here: ${problem}`)
  const line = await openDelayLine(held)
  // With the losses below, CUBIC does not carry 1.5 Mbit/s.
  const { page, scene, isLive, readAgeMs } = await openPage(held, line.address, 300_000)
  await isLive()
  for (const quality of [
    { delayMs: 200, jitterMs: 0, loss: 0 },
    { delayMs: 30, jitterMs: 20, loss: 0.01 },
    { delayMs: 80, jitterMs: 40, loss: 0.003 },
  ]) {
    line.become(quality)
    // For some seconds, a line that is longer than before looks like one with a backlog.
    await sleep(6000)
    const ages: number[] = []
    const looks: string[] = []
    const endMs = performance.now() + measuredMs
    while (performance.now() < endMs) {
      const ageMs = await readAgeMs('.stage video')
      if (ageMs !== undefined) ages.push(ageMs - quality.delayMs)
      looks.push(`${ageMs} ${await page.evaluate<string>(lookAtVideo)}`)
      await sleep(200)
    }
    ages.sort((x, y) => x - y)
    const [p50, p95] = [0.5, 0.95].map((share) => Math.round(ages[Math.floor(share * ages.length)] ?? Infinity))
    const told = `${JSON.stringify(quality)}: older than the line is long by ${p50} ms (p50), ${p95} ms (p95), ${ages.length} images`
    t.diagnostic(told)
    assert.ok(p50! <= 3000, [told, ...looks].join('\n'))
    assert.equal(await page.locator('.stage video').count(), 1, `${told}; the video was given up`)
  }
  line.become({ delayMs: 0, jitterMs: 0, loss: 0 })
  await isLive()
  assert.deepEqual(scene.complaints, [])
})

/** Where the video is, what it has, and what the page says: whether frames do not arrive or are not shown. */
const lookAtVideo = `(() => {
  const stage = document.querySelector('.stage')
  const { currentTime, readyState, paused, playbackRate, buffered } = stage?.querySelector('video') ?? {}
  const ranges = Array.from({ length: buffered?.length ?? 0 }, (_, i) => [buffered.start(i), buffered.end(i)])
  return JSON.stringify({ currentTime, readyState, paused, playbackRate, ranges, text: stage?.innerText })
})()`

/** `NIGHTJAR_LINE_SECONDS` for figures of a longer time. */
const measuredMs = 1000 * Number(process.env.NIGHTJAR_LINE_SECONDS ?? 12)

type Quality = {
  /** Of each packet, each way. */
  readonly delayMs: number
  /** At most so much is added to the delay, and no packet overtakes another. */
  readonly jitterMs: number
  /** The share of packets that do not arrive. */
  readonly loss: number
}

/** No packet is lost but those that are to be, also when this process waits for a processor. */
const bufferBytes = 4 * 1024 * 1024

/**
 * Between the host and the namespace, two network interfaces whose packets pass through this process. `address`: that of the
 * host.
 */
async function openDelayLine(held: AsyncDisposableStack) {
  const random = createRandom(Number(process.env.NIGHTJAR_TEST_SEED ?? 1))
  const far = `10.214.${process.pid % 250}`
  let quality: Quality = { delayMs: 0, jitterMs: 0, loss: 0 }
  const open = async (address: string) => {
    const socket = createSocket({ type: 'udp4', recvBufferSize: bufferBytes, sendBufferSize: bufferBytes })
    held.defer(() => void socket.close())
    socket.bind(0, address)
    await once(socket, 'listening')
    return { socket, port: (socket.address() as AddressInfo).port, far: undefined as number | undefined, lastMs: 0 }
  }
  const [near, distant] = [await open('127.0.0.1'), await open(`${network}.1`)]
  const passOn = (from: typeof near, to: typeof near, address: string) => {
    from.socket.on('message', (packet, { port }) => {
      from.far = port
      const { delayMs, jitterMs, loss } = quality
      if (random() < loss) return
      const nowMs = performance.now()
      to.lastMs = Math.max(to.lastMs, nowMs + delayMs + random() * jitterMs)
      const send = () => to.far !== undefined && isOpen && to.socket.send(packet, to.far, address)
      if (to.lastMs - nowMs < 1) send()
      else setTimeout(send, to.lastMs - nowMs)
    })
  }
  let isOpen = true
  held.defer(() => {
    isOpen = false
  })
  passOn(near, distant, `${network}.2`)
  passOn(distant, near, '127.0.0.1')
  const name = `njt${process.pid}`
  const start = async (inside: string[], own: string, relay: string) => {
    const tun = `TUN:${own}/30,tun-name=${name},iff-no-pi`
    const [command, ...args] = [...inside, 'socat', tun, `UDP4:${relay},rcvbuf=${bufferBytes},sndbuf=${bufferBytes}`]
    const child = spawn(command!, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    held.defer(async () => {
      if (child.exitCode !== null || !child.kill()) return
      await once(child, 'exit')
    })
    const ip = (...args: string[]) => [...inside, 'ip', ...args].join(' ')
    // A packet fits into a datagram with its header.
    const open = ip('link', 'set', name, 'addrgenmode', 'none', 'mtu', '1400', 'up')
    const hasAddress = `${ip('addr', 'show', name)} | grep -q ${own}`
    await eventually('the interface', 5000, async () => run(`${hasAddress} && ${open}`) === undefined)
  }
  await start([], `${far}.1`, `127.0.0.1:${near.port}`)
  await start(['ip', 'netns', 'exec', scope], `${far}.2`, `${network}.1:${distant.port}`)
  // Where BBR is the default, next to nothing is sent for up to 10 s after a line became longer.
  assert.equal(run(`ip route change ${far}.0/30 dev ${name} src ${far}.1 congctl cubic`), undefined)
  // Where packets are to be sent is known by the first one that comes from there. The browser sends the other side's.
  const first = createSocket('udp4')
  held.defer(() => void first.close())
  await eventually('the line', 5000, async () => {
    first.send('', 9, `${far}.2`)
    return near.far !== undefined
  })
  return {
    address: `${far}.1`,
    become(next: Quality) {
      quality = next
    },
  }
}

/** Returns what went wrong. */
function openNamespace(held: AsyncDisposableStack): string | undefined {
  held.defer(() => void [`ip link del ${hostEnd}`, `ip netns del ${scope}`].map(run))
  const opening = [
    `ip netns add ${scope}`,
    `ip link add ${hostEnd} type veth peer name ${farEnd} netns ${scope}`,
    `ip addr add ${network}.1/30 dev ${hostEnd}`,
    `ip link set ${hostEnd} up`,
    `ip -n ${scope} addr add ${network}.2/30 dev ${farEnd}`,
    // Without an address of IPv6, which comes late: Chromium ends requests when an address is added.
    `ip -n ${scope} link set ${farEnd} addrgenmode none up`,
    `ip -n ${scope} link set lo up`,
    limit(100_000),
  ]
  return opening.map(run).find((each) => each !== undefined)
}

/** The page of a camera, in a browser in the namespace that reaches the server at `address`. */
async function openPage(held: AsyncDisposableStack, address: string, bitsPerSecond: number) {
  const newest = { unixMs: 0 }
  const camera = await openFakeCamera({
    streams: [{ name: 'door', width: 1280, height: 720, framesPerSecond: 25, bitsPerSecond }],
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
    await launchOwnChromium([`--host-resolver-rules=MAP localhost ${address}`], launcher),
    (each) => each.close(),
  )
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  await scene.signIn(page, `/cameras/${id}`)
  const readAgeMs = async (selector: string) => {
    const clock = await readClock(page, selector).catch(() => undefined)
    return clock && newest.unixMs - clock.code.unixMs
  }
  const isLive = () =>
    eventually('it is live', 40_000, async () => {
      const ageMs = await readAgeMs('.stage video')
      return ageMs !== undefined && ageMs < 2000
    })
  return { page, scene, readAgeMs, isLive }
}

const median = (values: number[]) => values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Infinity

/** Returns what went wrong. */
function run(command: string): string | undefined {
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  return status === 0 ? undefined : `${command}: ${stderr.trim()}`
}
