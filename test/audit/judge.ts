// The verdict on one camera: what it sent against what was played and what the timeline told. Pure; docs/design/audit.md
// defines the words.

import type { FrameCounter } from '../fake-camera/frame-counter.ts'
import type { PlayedFrame } from './play-recording.ts'
import type { ToldGap, ToldTimeline } from './read-timeline.ts'
import { type ClockStep, earlyMs, type Stretch, serverTimes, shownStretches } from './server-clock.ts'

/** A fault that was done to the camera or to the server, in true time. */
export type DoneFault = {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
  /** How long after it a hole may still begin because of it. */
  readonly noticeMs: number
  /** What a gap that comes of it may be told as. */
  readonly reasons: readonly string[]
  /** Pictures may be missing or damaged without a gap: fewer than a second of them, until the next key frame. */
  readonly spoilsFrames: boolean
  /** It turns bits over, also those that say what a packet is: a picture may be gone without anybody being able to tell. */
  readonly turnsBits?: boolean
  /** What is taken meanwhile arrives at its end. */
  readonly holdsUp?: boolean
  /** It steps the timestamps by less than a camera's pause could be. */
  readonly stepsLittle?: boolean
  /** The camera sends fewer pictures than its timestamps say. */
  readonly slows?: boolean
  /** Figures that were not brought in yet are lost with the worker that counted them. */
  readonly losesFigures?: boolean
}

/** `sentMs`: when it was last passed to a connection; a camera that keeps its last group sends it again. Default: when taken. */
export type SentFrame = FrameCounter & { readonly sentMs?: number }

/** The camera's figure of lost pictures rose by so many in this time; undefined: nobody could be asked, or it began anew. */
export type CountedLoss = { readonly fromMs: number; readonly toMs: number; readonly pictures: number | undefined }

export type Evidence = {
  /** In the order of sending, which is that of the numbers. `unixMs` is the true time of taking. */
  readonly sent: readonly SentFrame[]
  readonly played: readonly PlayedFrame[]
  /** Numbers are in the bitstream. Those in the pixels alone may be left over from the picture before, where one is damaged. */
  readonly carriesNumbers: boolean
  readonly timeline: ToldTimeline
  readonly steps: readonly ClockStep[]
  readonly faults: readonly DoneFault[]
  readonly losses: readonly CountedLoss[]
  /** True time from which on the camera was known to be recorded. */
  readonly beginMs: number
  /** True time when the camera's recording was asked to end. */
  readonly endMs: number
  /** The longest time for which a busy machine kept the cameras from sending. What they send is late by as much. */
  readonly stallMs: number
}

export type Finding = {
  readonly kind: 'untold' | 'doubled' | 'false gap' | 'wrong time' | 'unreadable' | 'disorder'
  readonly text: string
}

export type Verdict = {
  readonly sent: number
  readonly recorded: number
  readonly told: number
  /** Of those told: by a gap of the timeline, by a break too short for one, as a loss of packets below a second. */
  readonly toldBy: { readonly gap: number; readonly shortBreak: number; readonly loss: number }
  readonly untold: number
  readonly doubled: number
  readonly falseGaps: number
  readonly worstTimeErrorMs: number
  /** Played pictures that nobody could have read after a fault that damages pictures. */
  readonly spoilt: number
  readonly findings: readonly Finding[]
}

/** Timelines round to whole seconds, and a picture may be half a second off. */
const edgeMs = 1500
/** The timeline does not split a segment at breaks up to this. */
const shortBreakMs = 2000
/** Holes up to this are no gap but a loss, which is a figure of the camera. */
const lossMs = 1500
/** A timeline begins a gap so much later at most, at a whole second. */
const roundingMs = 1000
const maxTimeErrorMs = 500
const minRoomMs = 500
/** A worker brings its figures in every few seconds, and they are asked for as often. */
const countingMs = 10_000
/** Pictures that a camera keeps are sent so much later at most, when it is connected anew. */
const keptMs = 3000
/** A picture damaged by a fault can be in the way until the next key frame comes. */
const spoiltForMs = 4000

/** A timestamp that is further off is noticed. */
const unnoticedStepMs = 2000

/** The stretch between two recorded pictures that follow each other, or behind the last. */
type Hole = {
  readonly afterMs: number
  readonly beforeMs: number
  /** When the picture behind it was sent. */
  readonly sentMs: number
  /** On the clock of the server. */
  readonly roomFromMs: number
  readonly roomToMs: number
  /** What that clock showed in it: several stretches when it was set meanwhile. */
  readonly shown: readonly Stretch[]
  readonly isBreak: boolean
  missing: readonly SentFrame[]
  /** How much of it damaged pictures without a name fill. */
  filledMs: number
  readonly gaps: ToldGap[]
}

type Found = { readonly taken: SentFrame; readonly shownMs: number; readonly section: number }

export function judge(evidence: Evidence): Verdict {
  const { played, steps, faults, stallMs } = evidence
  const limitMs = maxTimeErrorMs + stallMs
  const findings: Finding[] = []
  const byNumber = new Map(evidence.sent.map((picture) => [picture.frameNumber, picture]))
  const found = new Map<number, Found>()
  let doubled = 0
  let spoilt = 0
  let worstTimeErrorMs = 0
  let lastNumber = -1
  let lastTakenMs = Number.NEGATIVE_INFINITY
  /** Wall clock of pictures that a fault damaged so that nobody knows which they are. */
  const nameless: number[] = []
  const isKeptWithStep = findKeptSteps(evidence)
  const sectionStarts = new Map<number, number>()
  const findGroup = findGroups(evidence)
  for (const [i, { taken, isSpoilt, shownMs, section }] of played.entries()) {
    const sent = taken && byNumber.get(taken.frameNumber)
    const isKnown = sent !== undefined && Math.floor(sent.unixMs) === taken!.unixMs
    if (isKnown) lastTakenMs = sent.unixMs
    if (!isKnown || isSpoilt) {
      // One without a name is of the time of its neighbours.
      const nextMs = () => played.slice(i + 1).find((next) => next.taken)?.taken?.unixMs ?? lastTakenMs
      const isNamelessSpoilt = () => isSpoiltBy(faults, lastTakenMs) || isSpoiltBy(faults, nextMs())
      if (isKnown ? isSpoiltBy(faults, sent.unixMs) : isNamelessSpoilt()) spoilt++
      else
        findings.push({
          kind: 'unreadable',
          text: `shown at ${iso(shownMs)}, after ${iso(lastTakenMs)}, says ${JSON.stringify(taken)}`,
        })
      if (!isKnown) {
        if (isNamelessSpoilt()) nameless.push(shownMs)
        continue
      }
    }
    if (!sectionStarts.has(section)) sectionStarts.set(section, sent!.unixMs)
    const errorMs = Math.min(...possibleTimes(sent!, steps, faults).map((ms) => Math.abs(shownMs - ms)))
    const isAmbiguous = () =>
      isKeptWithStep(sent!) || isBeforeFirstStep(faults, sent!.unixMs, sectionStarts.get(section)!)
    const isLittle = errorMs < unnoticedStepMs && (isMisdatedBy(faults, sent!.unixMs) || isAmbiguous())
    const isUndatable = () => isHeldWhole(faults, findGroup(sent!), errorMs)
    const isMisdated =
      errorMs > limitMs && (isLittle || isSlowedWhileHeld(evidence, sent!.unixMs, errorMs) || isUndatable())
    if (errorMs > limitMs && !isMisdated)
      findings.push({
        kind: 'wrong time',
        text: `picture ${sent!.frameNumber} taken ${iso(sent!.unixMs)} is shown at ${iso(shownMs)}`,
      })
    if (!isMisdated) worstTimeErrorMs = Math.max(worstTimeErrorMs, errorMs)
    const isAgain = found.has(sent!.frameNumber)
    if (isAgain && !evidence.carriesNumbers && isSpoiltBy(faults, sent!.unixMs)) spoilt++
    else if (isAgain) {
      doubled++
      findings.push({
        kind: 'doubled',
        text: `picture ${sent!.frameNumber} taken ${iso(sent!.unixMs)}, again at ${iso(shownMs)}`,
      })
    } else {
      if (sent!.frameNumber < lastNumber)
        findings.push({ kind: 'disorder', text: `picture ${sent!.frameNumber} is played after ${lastNumber}` })
      lastNumber = sent!.frameNumber
      found.set(sent!.frameNumber, { taken: sent!, shownMs, section })
    }
  }
  const recorded = [...found.values()].sort((a, b) => a.taken.frameNumber - b.taken.frameNumber)
  // What was sent while its recording was being turned on counts when it was recorded.
  const firstMs = Math.min(evidence.beginMs, recorded[0]?.taken.unixMs ?? Number.POSITIVE_INFINITY)
  const sent = evidence.sent.filter(({ unixMs }) => unixMs >= firstMs)
  const holes = findHoles(sent, recorded, evidence)
  const falseGaps = assignGaps(holes, recorded, evidence, findings)
  const toldBy = { gap: 0, shortBreak: 0, loss: 0 }
  const namelessCount = takeNameless(holes, nameless)
  let untold = 0
  for (const hole of holes) untold += judgeHole(hole, recorded, evidence, toldBy, findings)
  const told = toldBy.gap + toldBy.shortBreak + toldBy.loss
  return {
    sent: sent.length,
    recorded: recorded.length + namelessCount,
    told,
    toldBy,
    untold,
    doubled,
    falseGaps,
    worstTimeErrorMs: Math.round(worstTimeErrorMs),
    spoilt,
    findings,
  }
}

/** Wherever pictures are missing, and wherever there is room of half a second between two, on either clock. */
function findHoles(sent: readonly SentFrame[], recorded: readonly Found[], { steps, endMs }: Evidence): Hole[] {
  const holes: Hole[] = []
  let at = 0
  const first = recorded[0]
  const early = first ? sent.filter(({ frameNumber }) => frameNumber < first.taken.frameNumber) : sent
  if (early.length > 0) {
    const beforeMs = first?.taken.unixMs ?? endMs
    const roomToMs = first?.shownMs ?? Math.max(...serverTimes(steps, endMs))
    const roomFromMs = Math.min(...serverTimes(steps, early[0]!.unixMs))
    const afterMs = early[0]!.unixMs
    const sentMs = first?.taken.sentMs ?? beforeMs
    const shown = shownStretches(steps, afterMs, findArrival(steps, beforeMs, sentMs))
    holes.push({
      afterMs,
      beforeMs,
      sentMs,
      roomFromMs,
      roomToMs,
      shown,
      isBreak: false,
      missing: early,
      filledMs: 0,
      gaps: [],
    })
  }
  for (const [i, { taken, shownMs, section }] of recorded.entries()) {
    const next = recorded[i + 1]
    while (at < sent.length && sent[at]!.frameNumber <= taken.frameNumber) at++
    const missing: SentFrame[] = []
    for (; at < sent.length && (!next || sent[at]!.frameNumber < next.taken.frameNumber); at++) missing.push(sent[at]!)
    const beforeMs = next?.taken.unixMs ?? endMs
    const roomToMs = next?.shownMs ?? Math.max(...serverTimes(steps, endMs))
    if (missing.length === 0 && beforeMs - taken.unixMs < minRoomMs && Math.abs(roomToMs - shownMs) < minRoomMs)
      continue
    const isBreak = next === undefined || next.section !== section
    const afterMs = taken.unixMs
    const sentMs = next?.taken.sentMs ?? beforeMs
    const shown = shownStretches(steps, afterMs, findArrival(steps, beforeMs, sentMs))
    holes.push({
      afterMs,
      beforeMs,
      sentMs,
      roomFromMs: shownMs,
      roomToMs,
      shown,
      isBreak,
      missing,
      filledMs: 0,
      gaps: [],
    })
  }
  return holes
}

/** When the picture behind a hole had arrived: it may be the first that tells the server that its clock was set. */
function findArrival(steps: readonly ClockStep[], beforeMs: number, sentMs: number): number {
  const latestMs = Math.max(beforeMs, sentMs)
  const isSetThen = steps.some(({ atMs }) => atMs > latestMs && atMs <= latestMs + earlyMs)
  return isSetThen ? latestMs + earlyMs : latestMs
}

/** Gives each told gap to the holes it lies in; how many lie in none, or have a reason that nothing gave. */
function assignGaps(
  holes: readonly Hole[],
  recorded: readonly Found[],
  { timeline, faults, steps, endMs, stallMs }: Evidence,
  findings: Finding[],
): number {
  const isRecorded = ({ startMs, endMs }: ToldGap) =>
    recorded.some(({ shownMs }) => shownMs > startMs + edgeMs && shownMs < endMs - edgeMs)
  let falseGaps = 0
  for (const gap of timeline.gaps) {
    const around = holes.filter(
      ({ roomFromMs, roomToMs, shown }) =>
        isWithin(gap, { fromMs: roomFromMs, toMs: roomToMs }) ||
        // By the clock of the server, which showed other times when it was set in the hole, or so shortly before that the
        // frames before the hole had the old time. Only then may other footage have the same times.
        (joinShown(shown).some((stretch) => isWithin(gap, stretch)) &&
          (shown.length > 1 || roomFromMs > shown[0]!.fromMs + edgeMs || !isRecorded(gap))) ||
        // Without a length it marks where one pass ends and another begins: a clock that was set back leaves no room between.
        (gap.startMs === gap.endMs && [roomFromMs, roomToMs].some((ms) => Math.abs(gap.startMs - ms) <= edgeMs)),
    )
    for (const hole of around) hole.gaps.push(gap)
    const near = around.flatMap((hole) => findCauses(hole, faults))
    if (around.length > 0 && near.some(({ reasons }) => reasons.includes(gap.reason))) continue
    // What follows the end of the audit is not part of it.
    if (gap.startMs >= Math.min(...serverTimes(steps, endMs)) - edgeMs && gap.reason === 'stopped_by_user') continue
    // Where the clock was set back, what came before the first recording is in the middle.
    if (gap.reason === 'stopped_by_user' && Math.abs(gap.endMs - (recorded[0]?.shownMs ?? 0)) <= edgeMs) continue
    // A camera that sent nothing, because its machine was busy, needs no fault for it.
    if (gap.reason === 'no_frames' && around.some(({ missing }) => missing.length === 0)) continue
    if (gap.reason === 'stream_changed' && around.some((hole) => isSteppedAtStandstill(hole, faults, stallMs))) continue
    falseGaps++
    const why = around.length === 0 ? 'pictures are recorded in it' : `nothing gave this reason: ${listNames(near)}`
    findings.push({ kind: 'false gap', text: `${iso(gap.startMs)} to ${iso(gap.endMs)}, ${gap.reason}: ${why}` })
  }
  return falseGaps
}

/**
 * Frames whose timestamps stepped by a little, and which come together because their camera stood still, have a new clock for
 * all that the server can tell.
 */
function isSteppedAtStandstill({ beforeMs }: Hole, faults: readonly DoneFault[], stallMs: number): boolean {
  if (stallMs < standstillMs) return false
  return faults.some(
    ({ stepsLittle, fromMs }) => stepsLittle && beforeMs >= fromMs && beforeMs <= fromMs + stallMs + edgeMs,
  )
}

/** Where the clock was set ahead, nothing lies between two stretches; where it was set back a little, they overlap. */
function joinShown(shown: readonly Stretch[]): Stretch[] {
  const joined: Stretch[] = []
  for (const stretch of shown) {
    const last = joined.at(-1)
    if (last && stretch.toMs >= last.fromMs)
      joined.splice(-1, 1, { fromMs: Math.min(last.fromMs, stretch.fromMs), toMs: Math.max(last.toMs, stretch.toMs) })
    else joined.push(stretch)
  }
  return joined
}

function isWithin({ startMs, endMs }: ToldGap, stretch: Stretch): boolean {
  return startMs >= stretch.fromMs - edgeMs && endMs <= stretch.toMs + edgeMs
}

/** A damaged picture without a name is one of those that are missing where it is shown; how many there were. */
function takeNameless(holes: readonly Hole[], nameless: readonly number[]): number {
  let count = 0
  for (const hole of holes) {
    const shown = nameless.filter((ms) => ms > hole.roomFromMs && ms < hole.roomToMs).length
    const taken = Math.min(shown, hole.missing.length)
    if (taken > 0) hole.filledMs = hole.missing[taken - 1]!.unixMs - hole.afterMs
    hole.missing = hole.missing.slice(taken)
    count += taken
  }
  return count
}

/** How many of the pictures missing in it nobody told of. */
function judgeHole(
  hole: Hole,
  recorded: readonly Found[],
  { faults, steps, losses, timeline }: Evidence,
  toldBy: { gap: number; shortBreak: number; loss: number },
  findings: Finding[],
): number {
  const causes = findCauses(hole, faults)
  // Where the clock was set back in it, its later part may lie in the gap behind the footage that follows.
  const untilMs = findEnd(hole, faults)
  const isSetBack = steps.some(
    ({ atMs, offsetMs }, i) =>
      atMs > hole.afterMs && atMs <= untilMs && offsetMs < (steps[i - 1]?.offsetMs ?? Number.NEGATIVE_INFINITY),
  )
  const gaps = (isSetBack ? timeline.gaps : hole.gaps).filter((gap) =>
    causes.some(({ reasons }) => reasons.includes(gap.reason)),
  )
  const roomMs = hole.roomToMs - hole.roomFromMs
  // Where the clock was set back, other footage may lie where this is missing: no timeline has room for a gap there.
  const isCovered = () =>
    recorded.some(({ shownMs }) => shownMs > hole.roomFromMs + edgeMs && shownMs < hole.roomToMs - edgeMs)
  // How long the last picture of a stream is shown is not known: up to two usual intervals.
  const lastMs = (2 * (hole.beforeMs - hole.afterMs)) / (hole.missing.length + 1)
  const isShortBreak = hole.isBreak && causes.length > 0 && (roomMs - lastMs <= shortBreakMs || isCovered())
  const isRecordedThen = (ms: number) => recorded.some(({ shownMs }) => Math.abs(shownMs - ms) <= roundingMs)
  const isCoveredLater = (times: readonly number[]) => isSetBack && causes.length > 0 && times.some(isRecordedThen)
  const isCounted = losses.some(({ fromMs, toMs }) => fromMs <= untilMs + countingMs && toMs >= hole.afterMs - edgeMs)
  const isUncounted = faults.some(
    ({ losesFigures, fromMs }) => losesFigures && fromMs >= hole.afterMs && fromMs <= untilMs + countingMs,
  )
  const canBeLoss = causes.some(
    ({ spoilsFrames, turnsBits }) => spoilsFrames && (isCounted || isUncounted || turnsBits),
  )
  const isLoss = canBeLoss && hole.beforeMs - hole.afterMs - hole.filledMs <= lossMs
  // A gap for another reason can follow a loss that is too short for one.
  const gapStartMs = Math.min(...gaps.map(({ startMs }) => startMs))
  const isLossBeforeGap = canBeLoss && gapStartMs - roundingMs - hole.roomFromMs <= lossMs
  const untold: SentFrame[] = []
  for (const picture of hole.missing) {
    // The picture before the hole may rightly be shown at another time than it was taken.
    const afterLast = hole.roomFromMs + picture.unixMs - hole.afterMs
    const times = [...possibleTimes(picture, steps, faults), afterLast]
    if (gaps.some(({ startMs, endMs }) => times.some((ms) => ms >= startMs - edgeMs && ms <= endMs + edgeMs)))
      toldBy.gap++
    else if (isShortBreak || isCoveredLater(times)) toldBy.shortBreak++
    else if (isLoss || (isLossBeforeGap && times.some((ms) => ms < gapStartMs))) toldBy.loss++
    else untold.push(picture)
  }
  if (untold.length > 0) findings.push({ kind: 'untold', text: describeHole(hole, untold, causes) })
  return untold.length
}

/** By the clock of the server when it was taken, or, if it was sent later or held up, when it arrived: the server knows no other. */
function possibleTimes(
  { unixMs: trueMs, sentMs }: SentFrame,
  steps: readonly ClockStep[],
  faults: readonly DoneFault[],
): number[] {
  const held = faults.filter(({ holdsUp, fromMs, toMs }) => holdsUp && trueMs >= fromMs - 1000 && trueMs <= toMs)
  const arrivals = held.flatMap(({ toMs }) => serverTimes(steps, toMs).map((ms) => ms - toMs + trueMs))
  return [...serverTimes(steps, trueMs, sentMs), ...arrivals]
}

/** When what follows the hole had arrived. */
function findEnd(hole: Hole, faults: readonly DoneFault[]): number {
  const held = faults.filter(
    ({ holdsUp, fromMs, toMs }) => holdsUp && fromMs - 1000 <= hole.beforeMs && toMs >= hole.afterMs,
  )
  return Math.max(hole.beforeMs, hole.sentMs, ...held.map(({ toMs }) => toMs)) + 1000
}

/** Faults that were under way in the hole, or shortly before it; or while what follows it was held up. */
function findCauses(hole: Hole, faults: readonly DoneFault[]): DoneFault[] {
  const untilMs = findEnd(hole, faults)
  return faults.filter(({ fromMs, toMs, noticeMs }) => fromMs <= untilMs && toMs + noticeMs + 1000 >= hole.afterMs)
}

function isSpoiltBy(faults: readonly DoneFault[], trueMs: number): boolean {
  return faults.some(
    ({ spoilsFrames, fromMs, toMs }) => spoilsFrames && trueMs >= fromMs - keptMs && trueMs <= toMs + spoiltForMs,
  )
}

/**
 * A bit that is turned over in a timestamp moves that picture, and those behind it until their own time comes. Of what was
 * held up, nobody can tell a small step from a pause of the camera.
 */
function isMisdatedBy(faults: readonly DoneFault[], trueMs: number): boolean {
  const isWithin = (fromMs: number, toMs: number) => trueMs >= fromMs - 1000 && trueMs <= toMs + unnoticedStepMs
  return faults.some(({ turnsBits, stepsLittle, fromMs, toMs }) => {
    if (turnsBits) return isWithin(fromMs, toMs)
    const isHeld = (each: DoneFault) => each.holdsUp && fromMs >= each.fromMs - 1000 && fromMs <= each.toMs
    return stepsLittle && faults.some((each) => isHeld(each) && isWithin(fromMs, each.toMs))
  })
}

/** A rate that was wrong is measured, and its error made up for, within this time. */
const measuredMs = 10_000

/** With cameras that stand still for so long, their frames come as through a network that holds each up for another time. */
const standstillMs = 1000
/** How far off a wrong rate may be then, until it is measured: docs/design/camera-time.md. */
const longestUnmeasuredMs = 5000

/**
 * Of what was held up, only the timestamps tell when it was taken. If they begin to say more pictures than there are, or end
 * to, and this was not measured yet, nobody can know until others arrive on time.
 */
function isSlowedWhileHeld({ faults, stallMs }: Evidence, trueMs: number, errorMs: number): boolean {
  return faults.some(({ slows, fromMs, toMs }) => {
    if (!slows || trueMs < fromMs - 1000) return false
    if (stallMs >= standstillMs && trueMs <= toMs + measuredMs && errorMs <= longestUnmeasuredMs) return true
    const isUnmeasured = (each: DoneFault) =>
      [fromMs, toMs].some((ms) => ms >= each.fromMs - measuredMs && ms <= each.toMs)
    const isOf = (each: DoneFault) => trueMs >= each.fromMs - 1000 && trueMs <= each.toMs + measuredMs
    return faults.some((each) => each.holdsUp && isUnmeasured(each) && isOf(each) && errorMs <= each.toMs - each.fromMs)
  })
}

/** Sent at the beginning of a connection, so much later than it was taken. */
const lateMs = 500

/**
 * A camera that sends its last group, and steps its timestamps by a little at the same time: nobody can tell the step from a
 * pause in the group.
 */
function findKeptSteps({ faults, sent }: Evidence): (frame: SentFrame) => boolean {
  const isNear = ({ sentMs = Number.NaN }: SentFrame, fromMs: number) => Math.abs(sentMs - fromMs) <= keptMs / 2
  const isLate = ({ unixMs, sentMs = unixMs }: SentFrame) => sentMs - unixMs >= lateMs
  const steps = faults.filter(
    ({ stepsLittle, fromMs }) => stepsLittle && sent.some((frame) => isLate(frame) && isNear(frame, fromMs)),
  )
  return (frame) => steps.some(({ fromMs }) => isNear(frame, fromMs))
}

/** Played pictures without a pause between them, by when they were taken. `keptMs`: each was sent so much later, or more. */
type Group = { readonly fromMs: number; toMs: number; keptMs: number }

/** After such a pause, the camera was connected anew, or its clock may be another one; with a discontinuity, after less. */
const pauseMs = 3000
const breakMs = 1000

function findGroups({ played, sent }: Evidence): (frame: SentFrame) => Group {
  const known = new Map(sent.map((frame) => [frame.frameNumber, frame]))
  const groups = new Map<number, Group>()
  let group: Group | undefined
  let last = -1
  for (const { taken, section } of played) {
    const frame = taken && known.get(taken.frameNumber)
    if (!frame) continue
    const { unixMs: takenMs, sentMs = takenMs } = frame
    const leastMs = section === last ? pauseMs : breakMs
    if (!group || takenMs - group.toMs >= leastMs) {
      group = { fromMs: takenMs, toMs: takenMs, keptMs: Number.POSITIVE_INFINITY }
    }
    last = section
    group.toMs = takenMs
    group.keptMs = Math.min(group.keptMs, sentMs - takenMs)
    groups.set(frame.frameNumber, group)
  }
  return ({ frameNumber }) => groups.get(frameNumber)!
}

/**
 * A group whose first and last frames were held up, or that the camera had kept, and of which nothing else arrived: none of
 * them came on time, and nothing else tells when frames of an unknown clock were taken.
 */
function isHeldWhole(faults: readonly DoneFault[], { fromMs, toMs, keptMs }: Group, errorMs: number): boolean {
  if (errorMs <= keptMs) return true
  return faults.some(
    (each) => each.holdsUp && fromMs >= each.fromMs && toMs <= each.toMs && errorMs <= each.toMs - each.fromMs,
  )
}

/** A camera that sends what it kept has sent it by then. */
const firstMs = 300

/**
 * The first frames of a connection that are followed by a small step: nobody can tell them from old frames that the camera
 * kept. All that was taken until the end of a standstill is a first frame, if the standstill began with the connection.
 * `openedMs`: when the first of them was taken.
 */
function isBeforeFirstStep(faults: readonly DoneFault[], trueMs: number, openedMs: number): boolean {
  const standstills = faults.filter(
    ({ holdsUp, fromMs, toMs }) => holdsUp && fromMs <= openedMs + firstMs && toMs >= openedMs,
  )
  const untilMs = Math.max(openedMs + firstMs, ...standstills.map(({ toMs }) => toMs))
  return faults.some(
    ({ stepsLittle, fromMs }) => stepsLittle && fromMs >= openedMs && fromMs <= untilMs && trueMs <= fromMs,
  )
}

function describeHole(
  { afterMs, beforeMs, isBreak, gaps }: Hole,
  untold: readonly SentFrame[],
  causes: readonly DoneFault[],
): string {
  const told = gaps.map((gap) => `${iso(gap.startMs)} to ${iso(gap.endMs)} ${gap.reason}`).join(', ') || 'nothing'
  return [
    `${untold.length} pictures, ${untold[0]!.frameNumber} to ${untold.at(-1)!.frameNumber}, taken ${iso(untold[0]!.unixMs)} to ${iso(untold.at(-1)!.unixMs)},`,
    `in a hole from ${iso(afterMs)} to ${iso(beforeMs)} ${isBreak ? 'with' : 'without'} a discontinuity;`,
    `told: ${told}; faults near: ${listNames(causes)}`,
  ].join(' ')
}

function listNames(faults: readonly DoneFault[]): string {
  return faults.map(({ name, fromMs, toMs }) => `${name} (${iso(fromMs)} to ${iso(toMs)})`).join(', ') || 'none'
}

function iso(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(11, 23) : String(ms)
}
