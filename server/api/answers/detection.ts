// The result of a connection test, for the user who requested it.

import type { StreamDetection } from '../../../contract/detection.ts'
import type { DetectedStream } from '../../ingest/detection/detect-stream.ts'
import { hideSecrets } from '../../model/camera-url.ts'
import { listUsualUrls } from '../../model/usual-stream-urls.ts'
import type { Detection } from '../deps.ts'

export function writeDetection(url: string, { stream, snapshot }: Detection): StreamDetection {
  const { transport, video, audio, audioProblem, problem } = stream
  return {
    // A camera that was found is added by this URL; what is in it, the camera told.
    url: stream.url ?? hideSecrets(url),
    type: video?.codec ?? null,
    transport: transport ?? null,
    video: video ? writeVideo(video) : null,
    audio: audio ? { codec: audio.codec, sample_rate: audio.sampleRate, channels: audio.channels } : null,
    audio_problem: audioProblem ?? null,
    snapshot: snapshot
      ? {
          url: `data:image/jpeg;base64,${Buffer.from(snapshot.jpeg).toString('base64')}`,
          width: snapshot.width,
          height: snapshot.height,
        }
      : null,
    problem: problem ? writeProblem(url, stream.url === undefined, problem) : null,
  }
}

function writeVideo({
  codec,
  keyFrame,
  ...rates
}: NonNullable<DetectedStream['video']>): NonNullable<StreamDetection['video']> {
  return {
    type: codec,
    codec: keyFrame?.codecString ?? null,
    width: keyFrame?.width ?? null,
    height: keyFrame?.height ?? null,
    frame_rate: round(rates.framesPerSecond, 2),
    bit_rate: round(rates.bitsPerSecond, 0),
    key_frame_interval: round(rates.keyFrameSeconds, 2),
  }
}

/** `isPathTyped`: otherwise the usual URLs have been tried. */
function writeProblem(
  url: string,
  isPathTyped: boolean,
  { code, detail }: NonNullable<DetectedStream['problem']>,
): NonNullable<StreamDetection['problem']> {
  const isPathWrong = isPathTyped && (code === 'no_such_stream' || code === 'no_video')
  return { code, detail, suggestions: isPathWrong ? listUsualUrls(url) : [] }
}

function round(value: number | undefined, digits: number): number | null {
  return value === undefined ? null : Math.round(value * 10 ** digits) / 10 ** digits
}
