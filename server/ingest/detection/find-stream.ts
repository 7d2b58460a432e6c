// Finds the stream of a camera of which only the host is known: by ONVIF, which tells the URL, or else among the paths
// that the usual makers use. docs/design/detection.md

import type { ProblemCode } from '../../../contract/camera-problem.ts'
import { chooseProfiles } from '../../model/onvif-choice.ts'
import { parseOnvifUrl } from '../../model/onvif-url.ts'
import { listUsualUrls } from '../../model/usual-stream-urls.ts'
import { readOnvifDevice } from '../onvif/read-device.ts'
import { type DetectedStream, type DetectStreamOptions, detectStream } from './detect-stream.ts'

/** A device that answers by ONVIF does so within a second or two. */
const onvifMs = 5000

/** The camera answers, but has nothing at this path. */
const isOnlyPathWrong = (code: ProblemCode) => code === 'no_such_stream' || code === 'no_video'

/** Nothing answers at this port that understands the protocol. `failed`: it closed the connection. */
const otherService: readonly ProblemCode[] = ['unreachable', 'timed_out', 'not_a_camera', 'failed']

/**
 * Like `detectStream`, for a target whose URL is `rtsp://host/` or `rtsp://host:port/`. Always returns `url`. The
 * search ends at the first answer that is about more than the path: a camera that asks for a login or refuses one is
 * not asked again, because cameras lock out clients that guess.
 */
export async function findStream(options: DetectStreamOptions): Promise<DetectedStream> {
  const { target } = options
  const { host, port } = new URL(target.url)
  const detectAt = async (url: string, depth = target.depth) =>
    withUrl(url, await detectStream({ ...options, target: { ...target, url, depth } }))

  const findByOnvif = async () => {
    const url = await findOnvifUrl(options, host)
    const found = url === undefined ? undefined : await detectAt(url)
    return found?.problem && isOnlyPathWrong(found.problem.code) ? undefined : found
  }
  let failure: DetectedStream | undefined
  const findAmongUsual = async (root: string) => {
    for (const url of [...listUsualUrls(root).map((usual) => usual.url), root]) {
      const found = await detectAt(url, 'type')
      if (!found.problem) return detectAt(url)
      const { code } = found.problem
      if (isOnlyPathWrong(code)) failure = describeNothing(root)
      else if (!otherService.includes(code)) return withUrl(root, found)
      else {
        failure ??= withUrl(root, found)
        return undefined
      }
    }
    return undefined
  }
  const byRtsp = () => findAmongUsual(`rtsp://${host}/`)
  // A port that somebody types is rarely that of ONVIF.
  const steps = port === '' ? [findByOnvif, byRtsp] : [byRtsp, findByOnvif]
  for (const step of [...steps, () => findAmongUsual(`http://${host}/`)]) {
    const found = await step()
    if (found) return found
  }
  return failure ?? describeNothing(target.url)
}

/** The URL of the main stream; undefined if ONVIF does not tell one. */
async function findOnvifUrl(
  { target, context, signal }: DetectStreamOptions,
  host: string,
): Promise<string | undefined> {
  const { username, password, canSeeProblems } = target
  const { profiles } = await readOnvifDevice({
    ...context,
    signal,
    target: { url: parseOnvifUrl(host).url, username, password, canSeeProblems },
    totalMs: onvifMs,
  })
  // A login is not sent to another host, whatever the camera says.
  const usable = profiles.filter(
    ({ url }) => url !== undefined && new URL(url).hostname === new URL(target.url).hostname,
  )
  const uses = chooseProfiles(usable.map((profile) => ({ ...profile, isUsable: profile.codec !== undefined })))
  return usable[uses.indexOf('main')]?.url
}

function withUrl(url: string, stream: DetectedStream): DetectedStream {
  return { ...stream, url }
}

function describeNothing(url: string): DetectedStream {
  const detail =
    'The camera answers, but has no stream at any of the usual addresses. Enter the URL of its stream, which is in its manual.'
  return {
    ...{ url, transport: undefined, video: undefined, audio: undefined, audioProblem: undefined },
    problem: { code: 'no_such_stream', detail },
  }
}
