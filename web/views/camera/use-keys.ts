// The keys of a camera's page. Single letters can be in the way of those who speak to their computer or whose hands slip, so they can be
// switched off; the browser keeps that choice.

import { useCallback, useEffect, useRef, useState } from 'react'
import { findCommand, type PlayerCommand } from '../../model/player-keys.ts'

const key = 'player-keys'

export type Commands = Readonly<Record<PlayerCommand, () => void>>

/** While they are off only the timeline and the buttons hear keys. */
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
      // What a held key repeats is going on, nothing else.
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

/** Whether what has the focus does something of its own with this key. */
function isTakenBy(target: EventTarget | null, pressed: string): boolean {
  if (!(target instanceof Element)) return false
  if (target.closest('input, select, textarea, dialog, [contenteditable]')) return true
  return pressed === ' ' && target.closest('button, a, summary') !== null
}
