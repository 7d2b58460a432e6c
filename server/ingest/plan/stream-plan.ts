// Chooses the tracks of a session description: the first supported video track, and audio if there is a supported
// track.

import type { Sdp } from '../../media/sdp/sdp.ts'
import { type PlannedAudio, planAudio } from './audio-plan.ts'
import { planVideo, type VideoPlan } from './video-plan.ts'

export type StreamPlan = PlannedAudio & { readonly video: VideoPlan }

/** @throws CameraError if there is no supported video; the message names what is offered */
export function planStreams(sdp: Sdp): StreamPlan {
  return { video: planVideo(sdp), ...planAudio(sdp) }
}
