// Where cameras of the usual makers have their stream: advice for whoever typed a path that the camera does not know.

export type UsualUrl = { readonly maker: string; readonly url: string }

type UsualPath = readonly [maker: string, path: string]

/** From the makers' manuals; the main stream, and of the first camera where a recorder has several. */
const rtspPaths: readonly UsualPath[] = [
  ['Hikvision', '/Streaming/Channels/101'],
  ['Dahua, Amcrest, Lorex', '/cam/realmonitor?channel=1&subtype=0'],
  ['Axis', '/axis-media/media.amp'],
  ['Reolink', '/h264Preview_01_main'],
  ['TP-Link Tapo, VIGI', '/stream1'],
  ['Uniview', '/media/video1'],
  ['Hanwha, Wisenet', '/profile2/media.smp'],
  ['Bosch', '/rtsp_tunnel'],
  ['Vivotek', '/live.sdp'],
  ['Foscam', '/videoMain'],
  ['Ezviz', '/h264/ch1/main/av_stream'],
  ['D-Link', '/live1.sdp'],
]

const httpPaths: readonly UsualPath[] = [
  ['Axis', '/axis-cgi/mjpg/video.cgi'],
  ['Hikvision', '/ISAPI/Streaming/channels/102/httpPreview'],
  ['Dahua, Amcrest', '/cgi-bin/mjpg/video.cgi?channel=1&subtype=1'],
  ['Vivotek', '/video.mjpg'],
  ['D-Link', '/video/mjpg.cgi'],
  ['Panasonic', '/nphMotionJpeg?Resolution=640x480'],
  ['mjpg-streamer', '/?action=stream'],
  ['ESP32-CAM', '/stream'],
]

/** At the host and port of `url`, which has no user information; without the one that was asked for. */
export function listUsualUrls(url: string): UsualUrl[] {
  const asked = new URL(url)
  const paths = /^rtsps?:$/.test(asked.protocol) ? rtspPaths : httpPaths
  return paths
    .map(([maker, path]) => ({ maker, url: `${asked.protocol}//${asked.host}${path}` }))
    .filter((usual) => usual.url !== asked.href)
}
