// Accounts and credentials for their users and owners. Secrets are included only when they are created.

import type { Account, Application, PersonalToken } from '../../../contract/account.ts'
import type { LinkedProvider } from '../../auth/providers/provider-service.ts'
import { writeTime } from '../../model/time.ts'
import type { Application as ApplicationRow } from '../../store/accounts/applications.ts'
import type { Grant } from '../../store/accounts/grants.ts'
import type { SessionRecord } from '../../store/accounts/sessions.ts'
import type { Token } from '../../store/accounts/tokens.ts'
import type { User } from '../../store/accounts/users.ts'

export function writeAccount(user: User): Account {
  return {
    id: user.id,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    phone: user.phone,
    is_owner: user.isOwner,
    created_at: writeTime(user.createdAtMs),
    disabled_at: user.disabledAtMs === null ? null : writeTime(user.disabledAtMs),
    has_second_factor: user.hasSecondFactor,
    may_add_cameras: user.isOwner || user.mayAddCameras,
  }
}

export function writePersonalToken(token: Token): PersonalToken {
  return {
    id: token.id,
    name: token.name,
    scope: token.scopes.join(' '),
    prefix: token.prefix,
    last_four: token.lastFour,
    created_at: writeTime(token.createdAtMs),
    last_used_at: token.lastUsedAtMs === null ? null : writeTime(token.lastUsedAtMs),
    expires_at: token.expiresAtMs === null ? null : writeTime(token.expiresAtMs),
  }
}

export function writeApplication(application: ApplicationRow): Application {
  return {
    id: application.id,
    client_id: application.clientId,
    name: application.name,
    redirect_uris: [...application.redirectUris],
    require_secret: application.requiresSecret,
    allow_password: application.allowsPassword,
    confidential: application.isConfidential,
    scope: application.scopes.join(' '),
    created_at: writeTime(application.createdAtMs),
  }
}

export function writeAuthorization(grant: Grant) {
  return {
    id: grant.id,
    application: { name: grant.appName },
    scope: grant.scopes.join(' '),
    created_at: writeTime(grant.createdAtMs),
    last_used_at: writeTime(grant.lastUsedAtMs),
    last_ip: grant.lastIp,
    user_agent: grant.label,
    expires_at: writeTime(grant.expiresAtMs),
  }
}

export function writeSession(session: SessionRecord, currentId?: string) {
  return {
    id: session.id,
    created_at: writeTime(session.createdAtMs),
    last_seen_at: writeTime(session.seenAtMs),
    ip: session.ip,
    user_agent: session.userAgent,
    second_factor: session.secondFactor,
    second_factor_at: session.secondFactorAtMs === null ? null : writeTime(session.secondFactorAtMs),
    is_current: session.id === currentId,
  }
}

export function writeIdentity({ id, provider, issuer, email, createdAtMs, usedAtMs }: LinkedProvider) {
  return {
    id,
    provider: provider ? { id: provider.id, name: provider.name } : null,
    issuer,
    email,
    created_at: writeTime(createdAtMs),
    last_used_at: usedAtMs === null ? null : writeTime(usedAtMs),
  }
}
