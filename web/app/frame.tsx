// The frame around every view: product name, navigation and connection status.

import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { Mark } from '../parts/mark.tsx'
import { useTexts } from '../texts/texts.tsx'
import { useIsOffline } from './use-is-offline.ts'

const ways = ['cameras', 'events', 'settings'] as const
const addresses = { cameras: '/', events: '/events', settings: '/settings' } as const

export function Frame({ children }: { readonly children: ReactNode }) {
  const { frame } = useTexts()
  const [path] = useLocation()
  const main = useRef<HTMLElement>(null)
  const shown = useRef(path)
  // Moves focus to the start of a new view, so that screen readers begin there.
  useEffect(() => {
    if (shown.current !== path) main.current?.focus()
    shown.current = path
  }, [path])
  return (
    <>
      <a className="skip" href="#main">
        {frame.skip}
      </a>
      <header className="bar">
        <Link className="bar-name" href="/">
          <Mark />
          <span>Nightjar</span>
        </Link>
        <nav aria-label={frame.navigation}>
          {ways.map((way) => (
            <Link key={way} href={addresses[way]} aria-current={isAt(path, way) ? 'page' : undefined}>
              {frame.ways[way]}
            </Link>
          ))}
        </nav>
      </header>
      <ConnectionBar />
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

function isAt(path: string, way: (typeof ways)[number]): boolean {
  if (way !== 'cameras') return path.startsWith(addresses[way])
  return path === '/' || /^\/(cameras|shared|add)(\/|$)/.test(path)
}

function ConnectionBar() {
  const { frame } = useTexts()
  const isServerOffline = useIsOffline()
  return (
    <div role="status" className={isServerOffline ? 'connection' : 'connection-none'}>
      {isServerOffline && frame.unreachable}
    </div>
  )
}
