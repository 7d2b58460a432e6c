// Settings: account, storage, appearance and, for owners, the server. Each section has its own URL.

import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { useMe } from '../../app/me-query.ts'
import { Page } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Access } from './access.tsx'
import { Look } from './appearance.tsx'
import { Applications } from './applications.tsx'
import { Profile } from './profile.tsx'
import { Server } from './server.tsx'
import './settings.css'
import { Storage } from './storage.tsx'
import { Tokens } from './tokens.tsx'
import { Users } from './users.tsx'

const forEverybody = ['profile', 'look', 'storage', 'tokens', 'applications', 'access'] as const
const forOwners = ['server', 'users'] as const
type Part = (typeof forEverybody | typeof forOwners)[number]

const shown: Record<Part, () => ReactNode> = {
  profile: () => <Profile />,
  look: () => <Look />,
  storage: () => <Storage />,
  tokens: () => <Tokens />,
  applications: () => <Applications />,
  access: () => <Access />,
  server: () => <Server />,
  users: () => <Users />,
}

export function Settings() {
  const { settings: texts } = useTexts()
  const me = useMe()
  const { part: wanted } = useParams<{ part?: string }>()
  const parts: readonly Part[] = me.data?.is_owner ? [...forEverybody, ...forOwners] : forEverybody
  // Until the user is known, an owner's section must not be treated as missing.
  const isPending = me.isPending && forOwners.some((each) => each === wanted)
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
        <div className="settings-part">{!isPending && shown[part]()}</div>
      </div>
    </Page>
  )
}
