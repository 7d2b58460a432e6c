// Statistics of a camera, for the API and the command line.

import type { CameraStatistics } from '../../../contract/statistics.ts'
import { type CameraFigures, noCounters } from '../../model/camera-figures.ts'
import { writeTime } from '../../model/time.ts'

/** Undefined if nothing has been counted yet. */
export function writeStatistics(figures: CameraFigures | undefined): CameraStatistics {
  const counters = figures ?? noCounters
  return {
    since: figures ? writeTime(figures.sinceMs) : null,
    bit_rate: figures?.bitRate === undefined ? null : Math.round(figures.bitRate),
    frame_rate: figures?.frameRate === undefined ? null : round(figures.frameRate, 100),
    clock_rate: figures?.frameRate === undefined ? null : round(figures.clockRate, 10_000),
    packet_loss_percent: writePercent(figures?.packetLoss),
    picture_loss_percent: writePercent(figures?.frameLoss),
    packets: counters.packets,
    lost_packets: counters.lostPackets,
    pictures: counters.videoFrames,
    lost_pictures: counters.droppedFrames,
    freezes: counters.freezes,
    frozen_seconds: round(counters.frozenMs / 1000, 10),
    connections: counters.connections,
    // Not in figures that an earlier version has stored.
    deviations: [...(figures?.deviations ?? [])],
  }
}

const writePercent = (part: number | undefined) => (part === undefined ? null : round(part * 100, 1000))

const round = (value: number, parts: number) => Math.round(value * parts) / parts
