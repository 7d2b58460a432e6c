// One's account and how the dashboard looks, on one page of parts that each have an address.

import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { Page } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Access } from './access.tsx'
import { Applications } from './applications.tsx'
import { Look } from './look.tsx'
import { Profile } from './profile.tsx'
import './settings.css'
import { Tokens } from './tokens.tsx'

const parts = ['profile', 'look', 'tokens', 'applications', 'access'] as const
type Part = (typeof parts)[number]

const shown: Record<Part, () => ReactNode> = {
  profile: () => <Profile />,
  look: () => <Look />,
  tokens: () => <Tokens />,
  applications: () => <Applications />,
  access: () => <Access />,
}

export function Settings() {
  const { settings: texts } = useTexts()
  const { part: wanted } = useParams<{ part?: string }>()
  const part = parts.find((each) => each === wanted) ?? 'profile'
  return (
    <Page title={texts.title}>
      <div className="settings">
        <nav className="settings-parts" aria-label={texts.title}>
          {parts.map((each) => (
            <Link key={each} href={`/settings/${each}`} aria-current={each === part ? 'page' : undefined}>
              {texts.parts[each]}
            </Link>
          ))}
        </nav>
        <div className="settings-part">{shown[part]()}</div>
      </div>
    </Page>
  )
}
