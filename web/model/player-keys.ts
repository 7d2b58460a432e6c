// Keyboard shortcuts of the camera page. This table drives both the actions and the help.

export const keyGroups = {
  play: [
    ['toggle', ['Space', 'K']],
    ['back', ['←']],
    ['forward', ['→']],
    ['farBack', ['Shift ←']],
    ['farForward', ['Shift →']],
    ['slower', ['J']],
    ['faster', ['L']],
    ['live', ['N']],
  ],
  find: [
    ['zoomIn', ['+']],
    ['zoomOut', ['−']],
    ['wholeDay', ['D']],
    ['jump', ['G']],
    ['nextEvent', ['E']],
    ['eventBefore', ['Shift E']],
  ],
  keep: [
    ['markStart', ['I']],
    ['markEnd', ['O']],
    ['unmark', ['X']],
    ['download', ['Shift D']],
    ['snapshot', ['S']],
  ],
  view: [
    ['fullScreen', ['F']],
    ['audio', ['M']],
    ['help', ['?']],
  ],
} as const

export type KeyGroup = keyof typeof keyGroups
export type PlayerCommand = (typeof keyGroups)[KeyGroup][number][0]

export type KeyPress = {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly metaKey: boolean
}

const plain: Readonly<Record<string, PlayerCommand>> = {
  ' ': 'toggle',
  k: 'toggle',
  arrowleft: 'back',
  arrowright: 'forward',
  j: 'slower',
  l: 'faster',
  n: 'live',
  d: 'wholeDay',
  g: 'jump',
  e: 'nextEvent',
  i: 'markStart',
  o: 'markEnd',
  x: 'unmark',
  s: 'snapshot',
  f: 'fullScreen',
  m: 'audio',
}

const shifted: Readonly<Record<string, PlayerCommand>> = {
  arrowleft: 'farBack',
  arrowright: 'farForward',
  e: 'eventBefore',
  d: 'download',
}

/** Keys whose position, and need for Shift, differs between keyboard layouts. */
const signs: Readonly<Record<string, PlayerCommand>> = {
  '+': 'zoomIn',
  '=': 'zoomIn',
  '-': 'zoomOut',
  _: 'zoomOut',
  '?': 'help',
}

/** Returns undefined for keys that belong to the browser. */
export function findCommand({ key, shiftKey, ctrlKey, altKey, metaKey }: KeyPress): PlayerCommand | undefined {
  if (ctrlKey || altKey || metaKey) return undefined
  const name = key.toLowerCase()
  return signs[name] ?? (shiftKey ? shifted : plain)[name]
}

/** From slow to fast. */
export const rates = [0.5, 1, 2, 4, 8, 16] as const

export function fasterThan(rate: number): number {
  return rates.find((each) => each > rate) ?? rates.at(-1)!
}

export function slowerThan(rate: number): number {
  return rates.findLast((each) => each < rate) ?? rates[0]
}
