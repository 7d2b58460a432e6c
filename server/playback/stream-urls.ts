// The URLs of a recorded stream. They are absolute and begin with the configured public URL.

export type StreamUrls = {
  readonly playlist: string
  readonly download: string
  readonly info: string
  readonly controls: string
  readonly play: string
  readonly pause: string
  readonly speed: string
}

/**
 * The URLs have no trailing slash; `mediaUrl`: where the files are reached. `nodeName` is the name of the server that has
 * the stream.
 */
export function createStreamUrls(
  {
    publicUrl,
    mediaUrl = publicUrl,
    nodeName,
  }: { readonly publicUrl: string; readonly mediaUrl?: string | undefined; readonly nodeName: string },
  streamId: string,
): StreamUrls {
  const base = `${mediaUrl}/recording/streams/${streamId}`
  return {
    playlist: `${base}/hls/playlist.m3u8`,
    download: `${base}/download.mp4`,
    info: `${publicUrl}/v1/recording/stream/${encodeURIComponent(nodeName)}/${streamId}/`,
    controls: `${base}/`,
    play: `${base}/play/`,
    pause: `${base}/pause/`,
    speed: `${base}/speed/`,
  }
}
