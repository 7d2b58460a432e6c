// What a person's browser gets and does to show the dashboard, view by view, each with nothing kept from before. How and why:
// docs/design/benchmarks.md.

import { openDashboard } from '../../test/e2e/dashboard-scene.ts'
import { openFakeCamera } from '../../test/fake-camera/fake-camera.ts'
import { eventually, openServer } from '../../test/server-under-test.ts'
import type { Bench } from '../bench.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median } from '../statistics.ts'
import { type Load, loadView, type View } from './load-view.ts'

const defaultCameras = 4
const loadsPerView = 5

export const webBench: Bench = {
  name: 'web',
  summary: 'what a browser gets and does to show the dashboard: bytes, first paint, main thread',
  help: `npm run bench -- web [options]

  --cameras N   how many are on the wall  [${defaultCameras}]
  --json        prints one JSON object and nothing else`,
  defaults: { cameras: defaultCameras },
  async run({ cameras, say }) {
    await using source = await openFakeCamera({ streams: [{ name: 'yard', scene: 'yard', width: 640, height: 360 }] })
    await using scene = await openDashboard(openServer)
    const { server } = scene
    for (let index = 1; index <= cameras; index++) {
      const body = { name: `Camera ${index}`, url: source.url('yard') }
      const { id } = (await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })).json
      await server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
    }
    await eventually('all cameras are online', 60_000, async () => {
      const { json } = await server.request<{ results: { status: string }[] }>('/v1/cameras/')
      return json.results.every(({ status }) => status === 'online')
    })
    const page = await scene.openPage()
    await scene.signIn(page)
    const storageState = await page.context().storageState()
    await page.context().close()
    const loads = new Map<View, Load[]>()
    for (const view of views) {
      say(`${view.title} …`)
      const found: Load[] = []
      for (let turn = 0; turn < loadsPerView; turn++) {
        const fresh = await scene.openPage({ storageState })
        found.push(await loadView(fresh, server.url, view))
        await fresh.context().close()
      }
      loads.set(view, found)
    }
    return createReport(loads, cameras, scene.complaints)
  },
}

const views: readonly View[] = [
  { title: 'wall', path: '/', shown: '.tile' },
  { title: 'camera', path: '/cameras/1', shown: '.stage' },
  { title: 'add a camera', path: '/add', shown: 'form' },
  { title: 'events', path: '/events', shown: 'h1' },
  { title: 'guests', path: '/cameras/1/guests', shown: 'form' },
  { title: 'settings', path: '/settings', shown: 'form' },
]

function createReport(loads: ReadonlyMap<View, Load[]>, cameras: number, complaints: readonly string[]): Report {
  const middle = (found: readonly Load[], name: keyof Load) => median(found.map((load) => load[name]))
  const wall = [...loads.values()][0]!
  const elsewhere = complaints.filter((complaint) => complaint.startsWith('asked elsewhere')).length
  return {
    name: 'web',
    title: 'The dashboard in a browser',
    setting: [
      `Chromium without a screen, signed in, 1280 × 860, ${cameras} cameras on the wall, over HTTP/2 and TLS from the same machine. Each view is loaded ` +
        `${loadsPerView} times with nothing kept from before; the middle one is shown. Bytes are those on the wire, headers included; pictures and video of ` +
        'cameras are not counted. *Shown* is when what the view is about is there, the way through the authorization endpoint included.',
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: [
          'view',
          'code and style, KB',
          'answers, KB',
          'requests',
          'first paint, ms',
          'shown, ms',
          'main thread, ms',
          'of it scripts, ms',
        ],
        rows: [...loads].map(([{ title }, found]) => [
          title,
          writeNumber(middle(found, 'fileBytes') / 1000),
          writeNumber(middle(found, 'answerBytes') / 1000),
          writeNumber(middle(found, 'requests')),
          writeNumber(Math.round(middle(found, 'firstPaintMs'))),
          writeNumber(Math.round(middle(found, 'shownMs'))),
          writeNumber(Math.round(middle(found, 'mainThreadMs'))),
          writeNumber(Math.round(middle(found, 'scriptMs'))),
        ]),
      },
    ],
    targets: [
      {
        key: 'firstPageKilobytes',
        title: 'first page, all of it, KB',
        value: (middle(wall, 'fileBytes') + middle(wall, 'answerBytes')) / 1000,
        limit: 200,
        kind: 'at most',
      },
      { key: 'requestsElsewhere', title: 'requests to other origins', value: elsewhere, limit: 0, kind: 'at most' },
      {
        key: 'complaints',
        title: 'failures and breaches of the policy',
        value: complaints.length,
        limit: 0,
        kind: 'at most',
      },
    ],
    notes: [],
    details: {
      cameras,
      views: Object.fromEntries(
        [...loads].map(([{ title }, found]) => [
          title,
          Object.fromEntries(
            (Object.keys(found[0]!) as (keyof Load)[]).map((name) => [name, Math.round(middle(found, name))]),
          ),
        ]),
      ),
    },
  }
}
