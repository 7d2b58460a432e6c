// Keyboard shortcuts of the camera page. Single-letter shortcuts can interfere with speech input or be pressed by
// accident, so they can be disabled; the choice is stored in the browser.

import { useCallback, useEffect, useRef, useState } from 'react'
import { findCommand, type PlayerCommand } from '../../model/player-keys.ts'

const key = 'player-keys'

export type Commands = Readonly<Record<PlayerCommand, () => void>>

/** While disabled, only the timeline and the buttons react to keys. */
export function useKeys(commands: Commands): { isOn: boolean; setOn: (isOn: boolean) => void } {
  const [isOn, setIsOn] = useState(() => localStorage.getItem(key) !== 'off')
  const latest = useRef(commands)
  latest.current = commands
  useEffect(() => {
    if (!isOn) return
    const press = (event: KeyboardEvent) => {
      const command = findCommand(event)
      if (command === undefined || event.defaultPrevented || isTakenBy(event.target, event.key)) return
      event.preventDefault()
      // Only moving and seeking repeat while a key is held.
      if (event.repeat && !repeatable.has(command)) return
      latest.current[command]()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [isOn])
  const setOn = useCallback((isWanted: boolean) => {
    localStorage.setItem(key, isWanted ? 'on' : 'off')
    setIsOn(isWanted)
  }, [])
  return { isOn, setOn }
}

const repeatable: ReadonlySet<PlayerCommand> = new Set([
  'back',
  'forward',
  'farBack',
  'farForward',
  'zoomIn',
  'zoomOut',
])

/** True if the focused element handles this key itself. */
function isTakenBy(target: EventTarget | null, pressed: string): boolean {
  if (!(target instanceof Element)) return false
  if (target.closest('input, select, textarea, dialog, [contenteditable]')) return true
  return pressed === ' ' && target.closest('button, a, summary') !== null
}
