// The URLs of a recorded stream. They are absolute and begin with the configured public URL.

export type StreamUrls = {
  readonly playlist: string
  readonly info: string
  readonly controls: string
  readonly play: string
  readonly pause: string
  readonly speed: string
}

/** `publicUrl` has no trailing slash. `nodeName` is the host name of the server that has the stream. */
export function createStreamUrls(publicUrl: string, nodeName: string, streamId: string): StreamUrls {
  const base = `${publicUrl}/recording/streams/${streamId}`
  return {
    playlist: `${base}/hls/playlist.m3u8`,
    info: `${publicUrl}/v1/recording/stream/${encodeURIComponent(nodeName)}/${streamId}/`,
    controls: `${base}/`,
    play: `${base}/play/`,
    pause: `${base}/pause/`,
    speed: `${base}/speed/`,
  }
}
