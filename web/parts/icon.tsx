// The icons: 24 × 24 pixels, in the current text color. They are hidden from screen readers, because the buttons have
// names; see parts/icon-button.tsx.

import type { ReactNode } from 'react'
import './icon.css'

const circle = <circle cx="12" cy="12" r="8.5" />
const speaker = <path d="M4 9.5v5h3.5L12 18.5v-13L7.5 9.5Z" className="icon-solid" />
const glass = (
  <>
    <circle cx="10.5" cy="10.5" r="6" />
    <path d="m15 15 5 5" />
  </>
)

const drawings = {
  play: <path d="M7.5 4.5v15l12-7.5Z" className="icon-solid" />,
  pause: <path d="M7 5h3.5v14H7Zm6.5 0H17v14h-3.5Z" className="icon-solid" />,
  back: (
    <>
      <path d="M4.5 12a7.5 7.5 0 1 0 2.6-5.7" />
      <path d="M7.5 2.5v4.3h4.3" />
    </>
  ),
  forward: (
    <>
      <path d="M19.5 12a7.5 7.5 0 1 1-2.6-5.7" />
      <path d="M16.5 2.5v4.3h-4.3" />
    </>
  ),
  live: (
    <>
      <circle cx="12" cy="12" r="2.5" className="icon-solid" />
      <path d="M7.8 16.2a6 6 0 0 1 0-8.4M16.2 7.8a6 6 0 0 1 0 8.4M5 19a9.9 9.9 0 0 1 0-14M19 5a9.9 9.9 0 0 1 0 14" />
    </>
  ),
  audio: (
    <>
      {speaker}
      <path d="M15 9.2a4 4 0 0 1 0 5.6M17.7 6.5a7.8 7.8 0 0 1 0 11" />
    </>
  ),
  silent: (
    <>
      {speaker}
      <path d="m15.5 9.5 5 5m0-5-5 5" />
    </>
  ),
  snapshot: (
    <>
      <path d="M3.5 7.5h4l1.5-2.5h6l1.5 2.5h4v11.5h-17Z" />
      <circle cx="12" cy="13" r="3.5" />
    </>
  ),
  fullScreen: <path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5" />,
  smallScreen: <path d="M9 4v5H4M20 9h-5V4M15 20v-5h5M4 15h5v5" />,
  link: (
    <path d="M10 14a4 4 0 0 0 5.7 0l3.3-3.3a4 4 0 0 0-5.7-5.7l-1.1 1.1M14 10a4 4 0 0 0-5.7 0L5 13.3A4 4 0 0 0 10.7 19l1.1-1.1" />
  ),
  keys: (
    <>
      <rect x="2.5" y="6" width="19" height="12" rx="2" />
      <path d="M6 10h.01M10 10h.01M14 10h.01M18 10h.01M7.5 14h9" />
    </>
  ),
  zoomIn: (
    <>
      {glass}
      <path d="M10.5 8v5M8 10.5h5" />
    </>
  ),
  zoomOut: (
    <>
      {glass}
      <path d="M8 10.5h5" />
    </>
  ),
  before: <path d="m14.5 5-7 7 7 7" />,
  after: <path d="m9.5 5 7 7-7 7" />,
  calendar: (
    <>
      <rect x="3.5" y="5.5" width="17" height="15" rx="2" />
      <path d="M3.5 10h17M8 3v4M16 3v4" />
    </>
  ),
  clock: (
    <>
      {circle}
      <path d="M12 7.5V12l3 2" />
    </>
  ),
  markStart: <path d="M9 4.5H6v15h3M11 12h8M16 8.8l3.2 3.2-3.2 3.2" />,
  markEnd: <path d="M15 4.5h3v15h-3M13 12H5M8 8.8 4.8 12 8 15.2" />,
  range: <path d="M6.5 4.5H4v15h2.5M17.5 4.5H20v15h-2.5M8 12h8" />,
  download: <path d="M12 4v11M7.5 11l4.5 4.5L16.5 11M4.5 19.5h15" />,
  close: <path d="m6 6 12 12M18 6 6 18" />,
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof drawings

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {drawings[name]}
    </svg>
  )
}
