// One load of a view in a fresh browser: what came over the wire, and what the browser did with it.

import type { Page } from 'playwright-core'

export type View = {
  readonly title: string
  readonly path: string
  /** What has to be there for the view to be of use. */
  readonly shown: string
}

export type Load = {
  /** Document, scripts, styles and pictures of ours, compressed as they came. */
  readonly fileBytes: number
  /** Of the interface. */
  readonly answerBytes: number
  readonly requests: number
  /** Since the navigation began; so is `shownMs`. */
  readonly firstPaintMs: number
  readonly shownMs: number
  /** Until the view had been there for a second. */
  readonly mainThreadMs: number
  readonly scriptMs: number
}

const settleMs = 1_000

export async function loadView(page: Page, origin: string, { path, shown }: View): Promise<Load> {
  const session = await page.context().newCDPSession(page)
  const paths = new Map<string, string>()
  let fileBytes = 0
  let answerBytes = 0
  let requests = 0
  session.on('Network.responseReceived', ({ requestId, response }) => {
    paths.set(requestId, new URL(response.url).pathname)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const from = paths.get(requestId) ?? ''
    if (/^\/(media|recording)\//.test(from)) return
    requests++
    if (/^\/(v1|oauth)\//.test(from)) answerBytes += encodedDataLength
    else fileBytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Performance.enable')
  await page.goto(origin + path, { waitUntil: 'commit' })
  await page.locator(shown).first().waitFor()
  const shownMs = await page.evaluate<number>('performance.now()')
  await page.waitForTimeout(settleMs)
  const firstPaintMs = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
  )
  const { metrics } = await session.send('Performance.getMetrics')
  const metric = (name: string) => (metrics.find((each) => each.name === name)?.value ?? Number.NaN) * 1000
  return {
    ...{ fileBytes, answerBytes, requests, firstPaintMs, shownMs },
    mainThreadMs: metric('TaskDuration'),
    scriptMs: metric('ScriptDuration'),
  }
}
