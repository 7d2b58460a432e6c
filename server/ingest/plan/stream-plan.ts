// Which tracks of a session description we take: the first video we can read, and audio if there is some. Says clearly
// why not.

import type { Sdp } from '../../media/sdp/sdp.ts'
import { type PlannedAudio, planAudio } from './audio-plan.ts'
import { planVideo, type VideoPlan } from './video-plan.ts'

export type StreamPlan = PlannedAudio & { readonly video: VideoPlan }

/** @throws CameraError when there is no video we can take, naming what there is */
export function planStreams(sdp: Sdp): StreamPlan {
  return { video: planVideo(sdp), ...planAudio(sdp) }
}
