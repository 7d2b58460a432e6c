// nightjar camera show: the status of a camera, and how well its frames are received.

import type { CameraStatistics } from '../../contract/statistics.ts'
import { writeStatistics } from '../api/answers/statistics.ts'
import type { Deviation } from '../base/deviation.ts'
import { hideSecrets } from '../model/camera-url.ts'
import { writeTime } from '../model/time.ts'
import type { Command } from './command.ts'
import { parseId } from './names.ts'
import { withStore } from './open-data.ts'

export const showCommand: Command = {
  name: 'camera show',
  summary: 'Show the status and the reception of a camera: rates, losses, freezes.',
  positionals: ['CAMERA_ID'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const camera = await store.cameras.get(parseId('camera', positionals[0]!))
      const figures = await store.cameraFigures.find(camera.id)
      const statistics = writeStatistics(figures)
      const { id, name, type, status, statusDetail } = camera
      const url = hideSecrets(camera.url)
      const measuredAt = figures ? writeTime(figures.atMs) : null
      const rows: [string, string | null][] = [
        ['Camera', `${id}, ${name}`],
        ['Address', url],
        ['Status', status === 'offline' && statusDetail ? `${status}: ${statusDetail}` : status],
        ...describeStatistics(statistics),
        ['Measured at', measuredAt],
      ]
      const lines = rows
        .filter(([, value]) => value !== null)
        .map(([what, value]) => `${`${what}:`.padEnd(16)}${value}`)
      return {
        json: { id, name, type, url, status, status_detail: statusDetail, measured_at: measuredAt, statistics },
        text: lines.join('\n'),
      }
    }),
}

function describeStatistics(of: CameraStatistics): [string, string | null][] {
  if (of.since === null) return [['Frames', 'none received since the server started']]
  return [
    ['Bit rate', of.bit_rate === null ? null : `${(of.bit_rate / 1e6).toFixed(2)} Mbit/s`],
    ['Frame rate', of.frame_rate === null ? null : `${of.frame_rate}/s`],
    ['Clock rate', of.clock_rate === null || of.clock_rate === 1 ? null : String(of.clock_rate)],
    ['Lost packets', describeLoss(of.lost_packets, of.packets, of.packet_loss_percent)],
    ['Lost frames', describeLoss(of.lost_pictures, of.pictures, of.picture_loss_percent)],
    ['Freezes', `${of.freezes}, ${of.frozen_seconds} s in total`],
    ['Connections', String(of.connections)],
    ['Deviations', of.deviations.length === 0 ? null : of.deviations.map(describeDeviation).join('; ')],
    ['Counted since', of.since],
  ]
}

/** Information and no fault: what is listed here is understood. */
const deviationTexts: Readonly<Record<Deviation, string>> = {
  client_directions: 'states directions as the client sees them',
  source_changes: 'changes the source of its packets',
  sequence_steps: 'steps back in its sequence numbers',
  unusable_timestamps: 'stamps frames with no usable time; they are dated by their arrival',
  joined_units: 'joins NAL units by start codes',
  empty_fragments: 'sends empty fragments',
  private_units: 'sends private NAL units',
  transport_headers: 'sends audio with transport headers (ADTS)',
  head_lines: 'sends HTTP heads with lines that are no fields',
}

function describeDeviation(deviation: string): string {
  return deviationTexts[deviation as Deviation] ?? deviation
}

function describeLoss(lost: number, received: number, percent: number | null): string | null {
  if (lost + received === 0) return null
  return `${lost} of ${lost + received}${percent === null ? '' : `, ${percent} % in the last ten minutes`}`
}
