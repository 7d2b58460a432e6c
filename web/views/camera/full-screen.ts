// The picture with its buttons on the whole screen.

import { useSyncExternalStore } from 'react'

type PhoneVideo = HTMLVideoElement & { webkitEnterFullscreen?(): void }

export function useFullScreen(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('fullscreenchange', listener)
      return () => document.removeEventListener('fullscreenchange', listener)
    },
    () => document.fullscreenElement !== null,
  )
}

export function toggleFullScreen(stage: HTMLElement): void {
  if (document.fullscreenElement) void document.exitFullscreen()
  // A refusal leaves everything as it is.
  else if (stage.requestFullscreen) stage.requestFullscreen().catch(() => {})
  // iPhones know it of videos alone.
  else stage.querySelector<PhoneVideo>('video')?.webkitEnterFullscreen?.()
}
