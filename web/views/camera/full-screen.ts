// Shows the player and its controls in full screen.

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
  // If the browser refuses, nothing changes.
  else if (stage.requestFullscreen) stage.requestFullscreen().catch(() => {})
  // iPhones support full screen only for video elements.
  else stage.querySelector<PhoneVideo>('video')?.webkitEnterFullscreen?.()
}
