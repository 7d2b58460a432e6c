// Packets from a camera are lost: the gap in the timeline and in the playlist, the statistics, and the event if the
// loss continues.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timeline } from '../../contract/recording.ts'
import type { CameraStatistics } from '../../contract/statistics.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Groups of pictures of five seconds. */
const stream = { name: 'yard', width: 320, height: 180, frameRate: 20, gopFrames: 100 }

test('a short packet loss causes a gap with a reason and is counted, and a longer loss causes one event', async () => {
  await using source = await openFakeCamera({ streams: [stream] })
  // A loss must last 20 times as long to cause an event.
  await using server = await openServerHere('--outage-seconds', '1')
  const id = await server.addCamera('Yard', source.url('yard'), '--record', 'P1D')
  const read = async () => (await server.request<CameraStatistics>(`/v1/cameras/${id}/statistics/`)).json
  const range = () => {
    const end = new Date().toISOString()
    return `start=${new Date(Date.now() - 3_600_000).toISOString()}&end=${end}`
  }
  const listGaps = async () =>
    (await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range()}`)).json.gaps

  await eventually('it is being recorded', 30_000, async () => {
    const { json } = await server.request<{ status: string }>(`/v1/cameras/${id}/recording/`)
    return json.status === 'RECORDING'
  })
  await wait(6000)
  assert.deepEqual(await listGaps(), [])

  // Repeat until the loss falls into the first half of a group of pictures.
  const firstMs = Date.now()
  let lostMs = 0
  const [gap] = await eventually('the gap is reported', 60_000, async () => {
    lostMs = Date.now()
    source.faults.spoilPackets('lose', 60, () => 0)
    await wait(11_700)
    const gaps = await listGaps()
    return gaps.length > 0 && gaps
  })
  assert.equal(gap!.reason, 'packet_loss')
  const startMs = Date.parse(gap!.start)
  // It is reported a while after one of the losses.
  assert.ok(
    startMs > firstMs - 5000 && startMs < lostMs + 10_000,
    `lost until ${new Date(lostMs).toISOString()}, gap from ${gap!.start}`,
  )
  const lastedMs = Date.parse(gap!.end) - startMs
  // Until the next key frame, for which a camera on a busy machine takes longer.
  assert.ok(lastedMs >= 1000 && lastedMs <= 10_000, `${lastedMs} ms`)

  const around = `start=${new Date(lostMs - 60_000).toISOString()}&end=${new Date(Date.parse(gap!.end) + 2000).toISOString()}`
  const { json: playback } = await server.request<{ url: string }>(`/v1/cameras/${id}/recording/stream/?${around}`)
  const playlist = await eventually('recording continues', 20_000, async () => {
    const { text } = await server.request(new URL(playback.url).pathname)
    return text.includes('#EXT-X-ENDLIST') && text
  })
  assert.equal(playlist.match(/#EXT-X-DISCONTINUITY\n/g)?.length, 1, playlist)

  const figures = await eventually('the statistics show the loss', 20_000, async () => {
    const figures = await read()
    // The rate is that of the last seconds, in which nothing arrived at first.
    const isBack = figures.frame_rate! > 5
    return figures.freezes > 0 && figures.lost_pictures > 0 && isBack && figures
  })
  assert.ok(figures.lost_packets > 0 && figures.packet_loss_percent! > 0 && figures.picture_loss_percent! > 0)
  assert.ok(figures.frozen_seconds >= 1 && figures.frozen_seconds < 60, `${figures.frozen_seconds} s`)
  assert.ok(figures.frame_rate! <= 21 && figures.bit_rate! > 1000, JSON.stringify(figures))
  const shown = await eventually('the command line shows it too', 45_000, async () => {
    const { statistics } = await server.command<{ statistics: CameraStatistics }>('camera', 'show', String(id))
    return statistics.freezes > 0 && statistics
  })
  assert.deepEqual(Object.keys(shown), Object.keys(figures))
  const metrics = (await server.request('/metrics')).text
  assert.match(metrics, /^nightjar_camera_freezes_total [1-9]/m)
  assert.doesNotMatch(metrics, /Yard|camera_id/)

  source.faults.spoilPackets('lose', 60_000, Math.random)
  const listLosses = async () => {
    const { json } = await server.request<{ results: { category: string; data: object }[] }>(`/v1/events/${id}/`)
    return json.results.filter(({ category }) => category === 'packet_loss')
  }
  const [event] = await eventually('the loss causes an event', 60_000, async () => {
    const losses = await listLosses()
    return losses.length > 0 && losses
  })
  assert.ok((event!.data as { packet_loss_percent: number }).packet_loss_percent > 0)
  await wait(8000)
  assert.equal((await listLosses()).length, 1, 'once')
})

test('damaged frames are recorded without a gap or a reconnection once the owner enables it', async () => {
  await using source = await openFakeCamera({ streams: [stream] })
  await using server = await openServerHere()
  const id = await server.addCamera('Yard', source.url('yard'), '--record', 'P1D')
  const read = async () => (await server.request<CameraStatistics>(`/v1/cameras/${id}/statistics/`)).json
  await eventually('frames arrive', 30_000, async () => (await read()).pictures > 20)
  const body = { keeps_damaged_pictures: true }
  const { json } = await server.request<typeof body>(`/v1/cameras/${id}/`, { method: 'PUT', body })
  assert.equal(json.keeps_damaged_pictures, true)
  // Wait for frames without a key frame among them: damaged key frames are always dropped.
  for (let i = 0; i < 10; i++) {
    await wait(500)
    source.faults.spoilPackets('lose', 60, () => 0)
  }
  await wait(12_000)
  const { lost_packets: lost, connections, freezes } = await read()
  assert.ok(lost > 0, 'packets were lost')
  assert.equal(connections, 1)
  assert.ok(freezes <= 1, `${freezes} freezes`)
  const shown = await server.command<{ keeps_damaged_pictures: boolean }>('camera', 'damaged', String(id), 'drop')
  assert.equal(shown.keeps_damaged_pictures, false)
})
