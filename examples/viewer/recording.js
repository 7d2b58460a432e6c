// Plays a recorded stream in a <video>: by hls.js, or by the browser itself where that cannot work (Safari on phones).

import Hls from 'hls.js'

const players = new WeakMap()

/** `tell` is given the moment that is shown, and what is wrong. */
export function playRecording(video, url, tell) {
  stopRecording(video)
  video.hidden = false
  if (!Hls.isSupported()) {
    video.src = url
    video.play()
    return
  }
  const hls = new Hls()
  players.set(video, hls)
  hls.on(Hls.Events.ERROR, (_event, { fatal, details }) => {
    if (fatal) tell(`The recording cannot be played (${details}).`)
  })
  hls.on(Hls.Events.MANIFEST_PARSED, () => video.play())
  video.ontimeupdate = () => tell(hls.playingDate?.toLocaleString() ?? '')
  hls.loadSource(url)
  hls.attachMedia(video)
}

export function stopRecording(video) {
  players.get(video)?.destroy()
  players.delete(video)
}
