// The judge finds what was planted: a verdict of "all is well" is worth something only if nothing else gets past it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DoneFault, type Evidence, judge, type Verdict } from './judge.ts'
import type { PlayedFrame } from './play-recording.ts'

const startMs = Date.UTC(2026, 4, 1, 12)
const taken = (frameNumber: number) => ({ frameNumber, unixMs: startMs + frameNumber * 100 })
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

function play(from: number, to: number, { section = 0, laterMs = 0, isSpoilt = false } = {}): PlayedFrame[] {
  return numbers(from, to).map((number) => {
    const own = taken(number)
    return { taken: own, isSpoilt, shownMs: own.unixMs + laterMs, section }
  })
}

function fault(fromSeconds: number, toSeconds: number, more: Partial<DoneFault> = {}): DoneFault {
  const times = { fromMs: startMs + fromSeconds * 1000, toMs: startMs + toSeconds * 1000, noticeMs: 0 }
  return { name: 'a fault', ...times, reasons: ['camera_unreachable'], spoilsFrames: false, ...more }
}

const gap = (fromSeconds: number, toSeconds: number, reason = 'camera_unreachable') => ({
  startMs: startMs + fromSeconds * 1000,
  endMs: startMs + toSeconds * 1000,
  reason,
})

/** Three hundred pictures of half a minute, all sent. */
function judgeThis(evidence: Partial<Evidence>): Verdict {
  return judge({
    sent: numbers(0, 300).map(taken),
    played: play(0, 300),
    timeline: { segments: [], gaps: [] },
    steps: [{ atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 }],
    faults: [],
    losses: [],
    carriesNumbers: true,
    beginMs: startMs,
    endMs: startMs + 30_000,
    stallMs: 0,
    ...evidence,
  })
}

const kinds = ({ findings }: Verdict) => findings.map(({ kind }) => kind)

test('everything recorded at its time: nothing to find', () => {
  const { sent, recorded, told, untold, doubled, falseGaps, worstTimeErrorMs, findings } = judgeThis({})
  assert.deepEqual([sent, recorded, told, untold, doubled, falseGaps, worstTimeErrorMs], [300, 300, 0, 0, 0, 0, 0])
  assert.deepEqual(findings, [])
})

test('one picture that is missing without a word is found', () => {
  const verdict = judgeThis({ played: [...play(0, 150), ...play(151, 300)] })
  assert.equal(verdict.untold, 1)
  assert.match(verdict.findings[0]!.text, /1 pictures, 150 to 150/)
})

test('pictures at the beginning that were never recorded are found', () => {
  assert.equal(judgeThis({ played: play(20, 300) }).untold, 20)
})

test('pictures at the end that were never recorded are found', () => {
  assert.equal(judgeThis({ played: play(0, 280) }).untold, 20)
})

test('a camera of which nothing was recorded is found', () => {
  assert.equal(judgeThis({ played: [] }).untold, 300)
})

test('a gap with a reason that a fault gave tells of what is missing in it, and of nothing beside it', () => {
  const played = [...play(0, 100), ...play(200, 300, { section: 1 })]
  const faults = [fault(10, 20)]
  const whole = judgeThis({ played, faults, timeline: { segments: [], gaps: [gap(10, 20)] } })
  assert.deepEqual([whole.told, whole.untold, whole.falseGaps], [100, 0, 0])
  const half = judgeThis({ played, faults, timeline: { segments: [], gaps: [gap(10, 14)] } })
  assert.deepEqual([half.told + half.untold, half.untold > 40, half.falseGaps], [100, true, 0])
})

test('a gap with a reason that nothing gave tells of nothing, and is false', () => {
  const played = [...play(0, 100), ...play(200, 300, { section: 1 })]
  const timeline = { segments: [], gaps: [gap(10, 20, 'auth_failed')] }
  const verdict = judgeThis({ played, faults: [fault(10, 20)], timeline })
  assert.deepEqual([verdict.untold, verdict.falseGaps], [100, 1])
})

test('a gap where pictures are recorded is false', () => {
  const verdict = judgeThis({ faults: [fault(10, 20)], timeline: { segments: [], gaps: [gap(10, 20)] } })
  assert.equal(verdict.falseGaps, 1)
  assert.match(verdict.findings[0]!.text, /pictures are recorded in it/)
})

test('a camera that sent nothing for a while may be told to have sent nothing, and not to have been gone', () => {
  const sent = [...numbers(0, 100), ...numbers(150, 300)].map(taken)
  const played = [...play(0, 100), ...play(150, 300, { section: 1 })]
  const tell = (reason: string) =>
    judgeThis({ sent, played, timeline: { segments: [], gaps: [gap(10, 15, reason)] } }).falseGaps
  assert.deepEqual([tell('no_frames'), tell('camera_unreachable')], [0, 1])
})

test('a damaged picture that shows the number of the one before is damaged, unless its bitstream has the number too', () => {
  const played = [...play(0, 101), ...play(100, 101, { laterMs: 100 }), ...play(102, 300)]
  const faults = [fault(9, 10, { spoilsFrames: true })]
  const losses = [{ fromMs: startMs + 10_000, toMs: startMs + 12_000, pictures: 1 }]
  const shown = judgeThis({ played, faults, losses, carriesNumbers: false })
  assert.deepEqual([shown.doubled, shown.spoilt, shown.untold], [0, 1, 0])
  assert.equal(judgeThis({ played, faults }).doubled, 1)
  assert.equal(judgeThis({ played, carriesNumbers: false }).doubled, 1)
})

test('a short break is told by a discontinuity and a fault, by neither alone', () => {
  const hole = (section: number) => [...play(0, 100), ...play(110, 300, { section })]
  assert.equal(judgeThis({ played: hole(1), faults: [fault(10, 11)] }).untold, 0)
  assert.equal(judgeThis({ played: hole(0), faults: [fault(10, 11)] }).untold, 10)
  assert.equal(judgeThis({ played: hole(1) }).untold, 10)
  // Two seconds, and the last picture, which is shown for up to two intervals.
  const until = (frame: number) => [...play(0, 100), ...play(frame, 300, { section: 1 })]
  assert.equal(judgeThis({ played: until(120), faults: [fault(10, 11)] }).untold, 0)
  assert.equal(judgeThis({ played: until(123), faults: [fault(10, 11)] }).untold, 23)
})

test('a loss of less than a second is told by the figures of the camera, not by the fault alone', () => {
  const played = [...play(0, 100), ...play(105, 300)]
  const faults = [fault(10, 11, { spoilsFrames: true })]
  const count = (fromSeconds: number) => [
    { fromMs: startMs + fromSeconds * 1000, toMs: startMs + fromSeconds * 1000 + 2000, pictures: 5 },
  ]
  assert.equal(judgeThis({ played, faults, losses: count(12) }).toldBy.loss, 5)
  assert.equal(judgeThis({ played, faults, losses: count(25) }).untold, 5)
  assert.equal(judgeThis({ played, faults }).untold, 5)
  assert.equal(judgeThis({ played, losses: count(12) }).untold, 5)
  assert.equal(judgeThis({ played, faults: [{ ...faults[0]!, turnsBits: true }] }).untold, 0)
  const dies = (seconds: number) => [...faults, fault(seconds, seconds, { reasons: [], losesFigures: true })]
  assert.equal(judgeThis({ played, faults: dies(12) }).toldBy.loss, 5)
  assert.equal(judgeThis({ played, faults: dies(9) }).untold, 5)
  assert.equal(judgeThis({ played, faults: dies(25) }).untold, 5)
  const held = fault(8, 25, { reasons: [], holdsUp: true })
  assert.equal(judgeThis({ played, faults: [...dies(25), held] }).untold, 0, 'they were not read before')
  assert.equal(judgeThis({ played, faults: [...dies(45), held] }).untold, 5)
})

test('a gap tells of what is missing between frames that are rightly shown at another time', () => {
  const off = { laterMs: -4800 }
  const played = [...play(0, 60), ...play(60, 100, off), ...play(150, 170, { section: 1, ...off }), ...play(170, 300)]
  const faults = [
    fault(5, 18, { holdsUp: true, reasons: [] }),
    fault(6, 17, { slows: true, reasons: [] }),
    fault(10, 15, { reasons: ['packet_loss'] }),
  ]
  const judgeGap = (from: number, to: number) =>
    judgeThis({ played, faults, timeline: { segments: [], gaps: [gap(from, to, 'packet_loss')] } }).untold
  assert.equal(judgeGap(5.1, 10.2), 0)
  assert.notEqual(judgeGap(5.1, 6), 0)
})

test('a loss of less than a second just before a gap is told by the figures of the camera, a longer one is not', () => {
  const played = [...play(0, 100), ...play(150, 300, { section: 1 })]
  const faults = [
    fault(10, 10.3, { spoilsFrames: true, reasons: ['packet_loss'] }),
    fault(11, 14, { reasons: ['disk_full'] }),
  ]
  const losses = [{ fromMs: startMs + 12_000, toMs: startMs + 14_000, pictures: 9 }]
  const judgeGap = (fromSeconds: number, more: Partial<Evidence> = {}) => {
    const timeline = { segments: [], gaps: [gap(fromSeconds, 15, 'disk_full')] }
    const { toldBy, untold } = judgeThis({ played, faults, losses, timeline, ...more })
    return [toldBy.gap, toldBy.loss, untold]
  }
  assert.deepEqual(judgeGap(11), [50, 0, 0])
  assert.deepEqual(judgeGap(12), [45, 5, 0])
  assert.deepEqual(judgeGap(13), [35, 0, 15])
  assert.deepEqual(judgeGap(12, { losses: [] }), [45, 0, 5])
  assert.deepEqual(judgeGap(12, { faults: faults.slice(1) }), [45, 0, 5])
})

test('a picture that is played twice is found', () => {
  const verdict = judgeThis({ played: [...play(0, 200), ...play(190, 300, { section: 1 })] })
  assert.equal(verdict.doubled, 10)
})

test('pictures that are played in another order than they were taken are found', () => {
  assert.deepEqual(kinds(judgeThis({ played: [...play(150, 300), ...play(0, 150, { section: 1 })] })), ['disorder'])
})

test('pictures shown at a wrong time are found', () => {
  const verdict = judgeThis({ played: [...play(0, 299), ...play(299, 300, { laterMs: 501 })] })
  assert.equal(verdict.worstTimeErrorMs, 501)
  assert.deepEqual(kinds(verdict), ['wrong time'])
})

test('a bit that is turned over may move the times of pictures by less than two seconds, any other fault may not', () => {
  const played = [...play(0, 100), ...play(100, 110, { laterMs: 1400 }), ...play(110, 300)]
  const judgeWith = (more: Partial<DoneFault>) => kinds(judgeThis({ played, faults: [fault(10, 10.1, more)] }))
  assert.deepEqual(judgeWith({ turnsBits: true, spoilsFrames: true }), [])
  assert.equal(judgeWith({ spoilsFrames: true }).length, 10)
  const far = [...play(0, 299), ...play(299, 300, { laterMs: 2500 })]
  assert.equal(judgeThis({ played: far, faults: [fault(29, 30, { turnsBits: true })] }).worstTimeErrorMs, 2500)
})

test('a clock that is set moves the time at which pictures must be shown', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 10_000, offsetMs: 3_600_000 },
  ]
  const faults = [fault(10, 10, { reasons: ['clock_set'] })]
  const played = [...play(0, 100), ...play(100, 300, { section: 1, laterMs: 3_600_000 })]
  const gaps = [gap(11, 3609, 'clock_set')]
  assert.deepEqual(judgeThis({ steps, faults, played, timeline: { segments: [], gaps } }).findings, [])
  assert.ok(kinds(judgeThis({ steps, faults, timeline: { segments: [], gaps: [] } })).includes('wrong time'))
})

test('pictures that cannot be read are missing unless a fault damaged them', () => {
  const unreadable = { taken: undefined, isSpoilt: true, shownMs: startMs + 10_000, section: 0 }
  const played = [...play(0, 100), unreadable, ...play(101, 300)]
  assert.deepEqual(kinds(judgeThis({ played })), ['unreadable', 'untold'])
  const losses = [{ fromMs: startMs + 10_000, toMs: startMs + 12_000, pictures: 1 }]
  const verdict = judgeThis({ played, losses, faults: [fault(9, 10, { spoilsFrames: true })] })
  assert.deepEqual([verdict.findings.length, verdict.spoilt, verdict.recorded], [0, 1, 300])
})

test('a damaged picture without a name stands for one that is missing there, and for no more', () => {
  const unreadable = { taken: undefined, isSpoilt: true, shownMs: startMs + 10_100, section: 0 }
  const played = [...play(0, 100), unreadable, ...play(102, 300)]
  const verdict = judgeThis({ played, faults: [fault(9, 10, { spoilsFrames: true })] })
  assert.deepEqual([verdict.recorded, verdict.untold], [299, 1])
  // What they fill is no part of a loss, which lasts a second and a half at most.
  const losses = [{ fromMs: startMs + 10_000, toMs: startMs + 12_000, pictures: 13 }]
  const lose = (...filled: number[]) => {
    const damaged = filled.map((ms) => ({ ...unreadable, shownMs: startMs + ms }))
    const played = [...play(0, 100), ...damaged, ...play(116, 300)]
    return judgeThis({ played, losses, faults: [fault(9, 11, { spoilsFrames: true })] }).untold
  }
  assert.deepEqual([lose(10_000, 10_100, 10_200), lose()], [0, 16])
})

test('a gap without a length marks where the clock was set back, and is false elsewhere', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 10_000, offsetMs: -60_000 },
  ]
  const faults = [fault(10, 10, { reasons: ['clock_set'] })]
  const played = [...play(0, 100), ...play(100, 300, { section: 1, laterMs: -60_000 })]
  const mark = (atSeconds: number) =>
    judgeThis({ steps, faults, played, timeline: { segments: [], gaps: [gap(atSeconds, atSeconds, 'clock_set')] } })
  assert.equal(mark(10).falseGaps, 0)
  assert.equal(mark(5).falseGaps, 1)
})

test('a gap by the new time may lie over the last frames, which still had the old time', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 9900, offsetMs: -5000 },
  ]
  const faults = [fault(9.9, 9.9, { reasons: ['clock_set'] }), fault(10, 20, { reasons: ['no_frames'] })]
  const played = [...play(0, 100), ...play(200, 300, { section: 1, laterMs: -5000 })]
  const tell = (fromSeconds: number) => {
    const gaps = [gap(10, 10, 'clock_set'), gap(fromSeconds, 15, 'no_frames')]
    return judgeThis({ steps, faults, played, timeline: { segments: [], gaps } })
  }
  assert.deepEqual([tell(5).falseGaps, tell(5).untold], [0, 0])
  assert.equal(tell(2).falseGaps, 1)
})

test('a gap that the owner made tells of what is missing in it, also when the clock was set back behind it later', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 25_000, offsetMs: -60_000 },
  ]
  const reasons = ['stopped_by_user']
  const faults = [fault(10, 20, { reasons }), fault(25, 25, { reasons: ['clock_set'] })]
  const played = [
    ...play(0, 100),
    ...play(200, 250, { section: 1 }),
    ...play(250, 300, { section: 2, laterMs: -60_000 }),
  ]
  const gaps = [gap(10, 20, 'stopped_by_user'), gap(25, 25, 'clock_set'), gap(26, 90, 'stopped_by_user')]
  const verdict = judgeThis({ steps, faults, played, timeline: { segments: [], gaps } })
  assert.deepEqual([verdict.untold, verdict.toldBy.gap, verdict.falseGaps], [0, 100, 0])
})

test('pictures that were held up while the clock was set may have the time of their arrival', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 14_000, offsetMs: 3_600_000 },
  ]
  const clockSet = fault(14, 14, { reasons: ['clock_set'] })
  const played = [...play(0, 100), ...play(100, 300, { section: 1, laterMs: 3_600_000 })]
  const timeline = { segments: [], gaps: [gap(11, 3609, 'clock_set')] }
  const judgeWith = (held: DoneFault) => judgeThis({ steps, played, timeline, faults: [clockSet, held] })
  assert.deepEqual(judgeWith(fault(10, 15, { reasons: [], holdsUp: true })).findings, [])
  assert.ok(kinds(judgeWith(fault(10, 15, { reasons: [] }))).includes('wrong time'))
  assert.ok(kinds(judgeWith(fault(10, 12, { reasons: [], holdsUp: true }))).includes('wrong time'))
})

test('where a clock was set back to before the first recording, that it was not yet on is a right reason', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 10_000, offsetMs: -600_000 },
    { atMs: startMs + 20_000, offsetMs: 0 },
  ]
  const faults = [fault(10, 10, { reasons: ['clock_set'] }), fault(20, 20, { reasons: ['clock_set'] })]
  const back = play(100, 200, { section: 1, laterMs: -600_000 })
  const played = [...play(0, 100), ...back, ...play(200, 300, { section: 2 })]
  const tell = (endSeconds: number) =>
    judgeThis({ steps, faults, played, timeline: { segments: [], gaps: [gap(-580, endSeconds, 'stopped_by_user')] } })
  assert.equal(tell(0).falseGaps, 0)
  assert.equal(tell(-10).falseGaps, 1)
})

test('a picture that shows another one than its bitstream says is found', () => {
  assert.equal(judgeThis({ played: play(0, 300, { isSpoilt: true }) }).findings.length, 300)
})

test('what was lost before the clock was set back may lie in the gap behind the footage that follows', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 19_000, offsetMs: -7000 },
    { atMs: startMs + 21_000, offsetMs: 23_000 },
  ]
  const faults = [fault(10, 20), ...[19, 21].map((seconds) => fault(seconds, seconds, { reasons: ['clock_set'] }))]
  const played = [
    ...play(0, 100),
    ...play(200, 210, { section: 1, laterMs: -7000 }),
    ...play(210, 300, { section: 2, laterMs: 23_000 }),
  ]
  const tell = (reason: string) =>
    judgeThis({ steps, faults, played, timeline: { segments: [], gaps: [gap(10, 13), gap(14, 44, reason)] } })
  assert.deepEqual(tell('clock_set').findings, [])
  assert.deepEqual(kinds(tell('auth_failed')), ['false gap', 'untold'])
})

test('a gap from before the clock was set back may show where nothing is recorded after it', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 20_000, offsetMs: -10_000 },
  ]
  const faults = [fault(10, 16, { reasons: ['server_down'] }), fault(22, 27, { reasons: ['no_frames'] })]
  const played = [
    ...play(0, 100),
    ...play(200, 220, { section: 1, laterMs: -10_000 }),
    ...play(270, 300, { section: 2, laterMs: -10_000 }),
  ]
  const tell = (endSeconds: number) =>
    judgeThis({
      ...{ steps, faults, played },
      timeline: { segments: [], gaps: [gap(12, endSeconds, 'server_down')] },
    }).falseGaps
  assert.equal(tell(16), 0)
  assert.equal(tell(19), 1, 'recorded again')
})

test('a frame that a camera kept and sent after the clock was set has the time of either setting', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 15_000, offsetMs: 56_000 },
  ]
  const played = [...play(0, 135), ...play(135, 300, { section: 1, laterMs: 56_000 })]
  const sent = numbers(0, 300).map(taken)
  assert.ok(judgeThis({ steps, played, sent }).worstTimeErrorMs > 500)
  const kept = sent.map((frame) => ({ ...frame, sentMs: Math.max(frame.unixMs, startMs + 14_200) }))
  assert.equal(judgeThis({ steps, played, sent: kept }).worstTimeErrorMs, 0)
})

test('a small step in what a camera kept moves that, and no other frames', () => {
  const kept = numbers(0, 300).map((number) => {
    const frame = taken(number)
    const isKept = number >= 100 && number < 120
    return { ...frame, sentMs: isKept ? startMs + 12_000 : frame.unixMs }
  })
  const faults = [fault(12, 12, { stepsLittle: true })]
  const played = [...play(0, 100), ...play(100, 120, { laterMs: -1400 }), ...play(120, 300)]
  assert.deepEqual(kinds(judgeThis({ played, sent: kept, faults })), [])
  assert.notDeepEqual(kinds(judgeThis({ played, sent: kept })), [])
  const sent = numbers(0, 300).map((number) => ({ ...taken(number), sentMs: taken(number).unixMs }))
  assert.notDeepEqual(kinds(judgeThis({ played, sent, faults })), [])
})

test('what was held up while the camera began to send fewer frames than it stamps may be off, nothing else may', () => {
  const late = (from: number, to: number, by: number) =>
    numbers(from, to).flatMap((number) => play(number, number + 1, { laterMs: -by * (number - from) }))
  const played = [...play(0, 100), ...late(100, 150, 60), ...play(150, 300)]
  const held = fault(9, 16, { holdsUp: true, reasons: [] })
  const slow = fault(10, 15, { slows: true, reasons: [] })
  const times = (faults: DoneFault[]) => kinds(judgeThis({ played, faults })).filter((kind) => kind === 'wrong time')
  assert.deepEqual(times([held, slow]), [])
  assert.notDeepEqual(times([held]), [])
  assert.notDeepEqual(times([slow]), [])
  assert.notDeepEqual(times([fault(20, 25, { holdsUp: true }), slow]), [])
  // The rate has changed shortly before.
  const before = (seconds: number) => fault(8 - seconds, 9 - seconds, { slows: true, reasons: [] })
  assert.deepEqual(times([held, before(1.5)]), [])
  assert.notDeepEqual(times([held, before(12)]), [])
})

test('where cameras stood still, a wrong rate is measured late, and a small step may count as another clock', () => {
  const slow = fault(10, 25, { slows: true, reasons: [] })
  const off = (ms: number, stallMs: number, faults = [slow]) =>
    kinds(judgeThis({ played: [...play(0, 150), ...play(150, 300, { laterMs: -ms })], faults, stallMs }))
  assert.deepEqual(off(4500, 1200), [])
  assert.deepEqual(off(4500, 1200, []), Array(150).fill('wrong time'))
  assert.deepEqual(off(5500, 1200), Array(150).fill('wrong time'))
  assert.deepEqual(off(4500, 900), Array(150).fill('wrong time'))

  const sent = [...numbers(0, 100), ...numbers(120, 300)].map(taken)
  const played = [...play(0, 100), ...play(120, 300, { section: 1 })]
  const tell = (reason: string, stepSeconds: number, stallMs: number) => {
    const faults = [fault(stepSeconds, stepSeconds, { stepsLittle: true, reasons: [] })]
    return judgeThis({ sent, played, faults, stallMs, timeline: { segments: [], gaps: [gap(10, 12, reason)] } })
      .falseGaps
  }
  assert.deepEqual([tell('stream_changed', 11, 1200), tell('no_frames', 11, 1200)], [0, 0])
  assert.deepEqual([tell('stream_changed', 11, 0), tell('stream_changed', 8, 1200)], [1, 1])
  assert.equal(tell('camera_unreachable', 11, 1200), 1)
})

test('the first frame of a connection may be off if a small step follows at once, and no later one', () => {
  const connect = (at: number) => [...play(0, at), ...play(at, 300, { section: 1 })]
  const off = (frames: PlayedFrame[], number: number) =>
    frames.map((frame) => (frame.taken?.frameNumber === number ? { ...frame, shownMs: frame.shownMs - 1300 } : frame))
  const faults = [fault(15.05, 15.05, { stepsLittle: true })]
  assert.deepEqual(kinds(judgeThis({ played: off(connect(150), 150), faults })), [])
  assert.notDeepEqual(kinds(judgeThis({ played: off(connect(150), 150) })), [])
  assert.notDeepEqual(kinds(judgeThis({ played: off(connect(150), 151), faults })), [])
  assert.notDeepEqual(kinds(judgeThis({ played: off(connect(140), 150), faults })), [])
})

test('what a standstill held up from the first frame of a connection may be off until a small step in it, and no longer', () => {
  const standstill = fault(15.1, 25, { holdsUp: true })
  const step = fault(20.05, 20.05, { stepsLittle: true })
  const off = (opened: number, from: number, to: number) => [
    ...play(0, opened),
    ...play(opened, from, { section: 1 }),
    ...play(from, to, { section: 1, laterMs: -1300 }),
    ...play(to, 300, { section: 1 }),
  ]
  const judgeOff = (opened: number, from: number, to: number, faults: DoneFault[]) =>
    kinds(judgeThis({ played: off(opened, from, to), faults }))
  assert.deepEqual(judgeOff(150, 150, 201, [standstill, step]), [])
  assert.notDeepEqual(judgeOff(150, 150, 201, [standstill]), [])
  assert.notDeepEqual(judgeOff(150, 150, 201, [step]), [])
  assert.notDeepEqual(judgeOff(145, 150, 201, [standstill, step]), [])
  assert.notDeepEqual(judgeOff(150, 271, 280, [standstill, step]), [])
})

test('frames may be off by as much more as the cameras stood still', () => {
  const played = [...play(0, 150), ...play(150, 300, { laterMs: 560 })]
  assert.notDeepEqual(kinds(judgeThis({ played })), [])
  assert.deepEqual(kinds(judgeThis({ played, stallMs: 100 })), [])
})

test('frames between two pauses that were all held up may be off, and no others', () => {
  const late = (from: number, to: number, laterMs = 9000) => play(from, to, { section: 1, laterMs })
  const held = fault(10.5, 20.5, { holdsUp: true })
  const times = (played: PlayedFrame[], faults = [held]) =>
    kinds(judgeThis({ played, faults })).filter((kind) => kind === 'wrong time')
  const rest = play(250, 300, { section: 2 })
  assert.deepEqual(times([...play(0, 70), ...late(110, 200), ...rest]), [])
  assert.notDeepEqual(times([...play(0, 70), ...late(110, 200), ...rest], []), [])
  // Those after them came on time, those before them had the same clock, or they are off by more than they waited.
  assert.notDeepEqual(times([...play(0, 70), ...late(110, 220), ...rest]), [])
  assert.notDeepEqual(times([...play(0, 105), ...late(110, 200), ...rest]), [])
  assert.notDeepEqual(times([...play(0, 70), ...late(110, 200, 11_000), ...rest]), [])
})

test('frames that a camera had kept, and behind which the connection broke, may be off by as much as each was late', () => {
  const kept = (to: number) =>
    numbers(0, 300).map((number) => {
      const frame = taken(number)
      return number >= 150 && number < to ? { ...frame, sentMs: startMs + 17_500 } : { ...frame, sentMs: frame.unixMs }
    })
  const times = (laterMs: number, sent = kept(165)) => {
    const played = [...play(0, 100), ...play(150, 165, { section: 1, laterMs }), ...play(200, 300, { section: 2 })]
    return kinds(judgeThis({ played, sent })).filter((kind) => kind === 'wrong time')
  }
  assert.deepEqual(times(1100), [])
  assert.notDeepEqual(times(1200), [])
  assert.notDeepEqual(times(1100, kept(164)), [], 'one came on time')
})

test('a gap goes on where the clock was set back by less than it has lasted', () => {
  const steps = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 },
    { atMs: startMs + 18_000, offsetMs: -5000 },
  ]
  const played = [...play(0, 100), ...play(250, 300, { section: 1, laterMs: -5000 })]
  const judged = (toSeconds: number) =>
    judgeThis({ played, steps, faults: [fault(10, 24)], timeline: { segments: [], gaps: [gap(10, toSeconds)] } })
  assert.equal(judged(20).falseGaps, 0)
  assert.equal(judged(22).falseGaps, 1, 'recorded again')
})

test('a gap ends by the clock that was set while the picture behind it was on its way', () => {
  const step = { atMs: startMs + 20_100, offsetMs: 30_000 }
  const before = [
    { atMs: Number.NEGATIVE_INFINITY, offsetMs: 600_000 },
    { atMs: startMs + 16_000, offsetMs: 0 },
  ]
  // Other footage has the times in between, because the clock is set back later.
  const back = { atMs: startMs + 25_000, offsetMs: -4000 }
  const played = [
    ...play(0, 150, { laterMs: 600_000 }),
    ...play(200, 250, { section: 1, laterMs: 30_000 }),
    ...play(250, 300, { section: 2, laterMs: -4000 }),
  ]
  const faults = [
    fault(15, 20, { reasons: ['server_down'] }),
    fault(16, 17, { reasons: ['clock_set'] }),
    fault(20.1, 22, { reasons: ['clock_set'] }),
  ]
  const judgeGap = (to: number) => {
    const timeline = { segments: [], gaps: [gap(16, to, 'server_down')] }
    return judgeThis({ played, faults, steps: [...before, step, back], timeline }).falseGaps
  }
  assert.equal(judgeGap(50), 0)
  assert.equal(judgeGap(53), 1)
})
