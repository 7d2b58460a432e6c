import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Outage } from './outage.ts'

const wallOf = (monotonicMs: number) => 1_000_000 + monotonicMs
const at = (monotonicMs: number) => ({ monotonicMs, wallMs: wallOf(monotonicMs) })

/** Goes down and up at these seconds, alternately. Returns what is reported until second 200, polled each second. */
function report(changes: readonly number[], reportedSinceMs?: number) {
  const outage = new Outage<number>({ downMs: 15_000, upMs: 15_000 }, reportedSinceMs)
  const reported: unknown[] = []
  for (let second = 0; second <= 200; second++) {
    for (const [index, change] of changes.entries()) {
      if (change !== second) continue
      if (index % 2 === 0) outage.down(at(second * 1000), index)
      else outage.up(at(second * 1000))
    }
    const news = outage.poll(second * 1000)
    if (news?.kind === 'begin') reported.push(['begin', second, (news.sinceMs - wallOf(0)) / 1000, news.cause])
    if (news?.kind === 'end') reported.push(['end', second, (news.untilMs - wallOf(0)) / 1000])
  }
  return reported
}

test('an outage and its end are reported once each has lasted', () => {
  assert.deepEqual(report([]), [])
  assert.deepEqual(report([10, 24]), [])
  assert.deepEqual(report([10, 30]), [
    ['begin', 25, 10, 0],
    ['end', 45, 30],
  ])
  assert.deepEqual(report([10]), [['begin', 25, 10, 0]])
})

test('what flaps for a moment is nothing, what flaps for long is one outage', () => {
  assert.deepEqual(report([10, 12, 13, 15, 16, 18]), [])
  // Away again before it was back for long enough: the same outage, with its first cause.
  assert.deepEqual(report([10, 12, 20, 22, 30, 32, 40, 42]), [
    ['begin', 30, 10, 0],
    ['end', 57, 42],
  ])
  assert.deepEqual(report([10, 40, 50, 90]), [
    ['begin', 25, 10, 0],
    ['end', 105, 90],
  ])
  // Told late rather than wrong: at 25 it is up, and might stay so.
  assert.deepEqual(report([10, 24, 26, 60]), [
    ['begin', 26, 10, 0],
    ['end', 75, 60],
  ])
})

test('two outages are two', () => {
  assert.deepEqual(
    report([10, 30, 60, 100]).map((news) => (news as unknown[])[0]),
    ['begin', 'end', 'begin', 'end'],
  )
})

test('an outage that an earlier process reported is only ended', () => {
  assert.deepEqual(report([], wallOf(-5000)), [])
  assert.deepEqual(report([3, 30], wallOf(-5000)), [['end', 45, 30]])
})

test('an outage that may not be reported yet is reported later, and an unreported one does not end', () => {
  const outage = new Outage<string>({ downMs: 1000, upMs: 1000 })
  outage.down(at(0), 'why')
  assert.equal(
    outage.poll(2000, () => false),
    undefined,
  )
  assert.deepEqual(
    outage.poll(3000, () => true),
    { kind: 'begin', sinceMs: wallOf(0), cause: 'why' },
  )
  const other = new Outage<string>({ downMs: 1000, upMs: 1000 })
  other.down(at(0), 'why')
  other.poll(2000, () => false)
  other.up(at(2500))
  assert.equal(
    other.poll(9000, () => true),
    undefined,
  )
})

test('for any sequence of losses and returns, starts and ends alternate, keep the limits, and lasting outages are reported', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 })
  fc.assert(
    fc.property(gaps, (gaps) => {
      let second = 0
      const changes = gaps.map((gap) => (second += gap)).filter((change) => change <= 200)
      const reported = report(changes) as [string, number, number][]
      for (const [i, [kind, when, since]] of reported.entries()) {
        assert.equal(kind, i % 2 === 0 ? 'begin' : 'end')
        assert.ok(when - since >= 15)
        if (i > 0) assert.ok(when - reported[i - 1]![1] >= 15)
      }
      for (const [i, change] of changes.entries()) {
        const until = changes[i + 1] ?? 201
        if (until - change < 16) continue
        // The state lasted for this long, so it is what was reported last.
        const last = reported.filter(([, when]) => when < until).at(-1)?.[0]
        assert.equal(i % 2 === 0 ? last === 'begin' : last !== 'begin', true)
      }
    }),
  )
})
