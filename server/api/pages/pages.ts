// The pages of the server: sign-in, consent, account and API documentation. They are plain HTML that works without
// scripts, except for passkeys and for looking at a password.

import type { FastifyInstance } from 'fastify'
import type { RateLimits } from '../../auth/guard/rate-limits.ts'
import type { OwnAuthority } from '../transport/certificate.ts'
import type { PagesDeps } from './deps.ts'
import { type Page, redirect } from './page.ts'
import { registerPageAssets } from './page-assets.ts'
import { registerPageRoutes } from './page-routes.ts'
import { changePasswordPath, homePath } from './paths.ts'
import { createAccountPage } from './routes/account.ts'
import { createAuthenticatorAppPage } from './routes/authenticator-app.ts'
import { createAuthorizePage } from './routes/authorize.ts'
import { createCertificatePage, registerCertificateFile } from './routes/certificate.ts'
import { createConfirmPage } from './routes/confirm.ts'
import { createDocsPage } from './routes/docs.ts'
import { createChangeEmailPage, createConfirmEmailPage } from './routes/email.ts'
import { createInvitationPage } from './routes/invitation.ts'
import { createLinkedAccountsPage, createLinkFoundPage } from './routes/linked-accounts.ts'
import { createOwnSecondFactorPage } from './routes/own-second-factor.ts'
import { createChangePasswordPage, passwordStrengthPage } from './routes/password.ts'
import { createProviderPages } from './routes/provider-sign-in.ts'
import { createResetPage } from './routes/reset.ts'
import { createSecondStepPage } from './routes/second-step.ts'
import { createSetUpPage } from './routes/set-up.ts'
import { createSignInPage } from './routes/sign-in.ts'
import { createSignOutPage } from './routes/sign-out.ts'
import { createSignUpPage } from './routes/sign-up.ts'
import { createTokensPage } from './routes/tokens.ts'
import { SignInService } from './sign-in-service.ts'

export type PagesOptions = {
  readonly deps: PagesDeps
  readonly limits: RateLimits
  /** The public origin of this server. */
  readonly publicUrl: string
  /** True if `/` is the dashboard. Browsers go there after sign-in, otherwise to the account page. */
  readonly hasDashboard?: boolean
  /** Undefined if devices trust the certificate of this server already. */
  readonly authority?: OwnAuthority | undefined
}

/** Registers all pages and their assets. */
export function registerPages(server: FastifyInstance, options: PagesOptions): void {
  const { deps, limits, publicUrl, hasDashboard = false, authority } = options
  const service = new SignInService(deps, hasDashboard ? '/' : homePath)
  const start: Page = { path: '/', audience: 'anyone', get: async () => redirect(homePath) }
  // https://www.w3.org/TR/change-password-url/
  const passwordManagers: Page = {
    path: '/.well-known/change-password',
    audience: 'anyone',
    get: async () => redirect(changePasswordPath),
  }
  if (authority) registerCertificateFile(server, authority)
  const certificate = authority ? [createCertificatePage(authority)] : []
  registerPageRoutes(server, {
    pages: [
      ...certificate,
      passwordManagers,
      ...(hasDashboard ? [] : [start]),
      ...createPages(deps, service, publicUrl),
    ],
    sessions: deps.sessions,
    users: deps.users,
    limits,
    assets: registerPageAssets(server),
    publicUrl,
    clock: deps.clock,
    longPaths: deps.longPaths,
    shared: deps.sharedAnswers,
    log: deps.log,
    signInFirst: (call) => service.sendToSignIn(call, { path: call.url }),
    confirmFirst: (call) => service.sendToConfirm(call, call.url),
    isSecondFactorMissing: async ({ userId }) => deps.secondFactors.isMissing(await deps.users.get(userId)),
    setUpFirst: (call) => service.sendToSetUp(call, call.url),
  })
}

export function createPages(deps: PagesDeps, service: SignInService, publicUrl: string): Page[] {
  return [
    createSignInPage(deps, service),
    ...createProviderPages(deps, service),
    createSecondStepPage(deps, service),
    createSignOutPage(deps, service),
    createConfirmPage(deps, service),
    createAuthorizePage(deps, service, publicUrl),
    createSetUpPage(deps, service),
    createInvitationPage(deps, service),
    ...(deps.accounts.signUps.policy === 'open' ? [createSignUpPage(deps)] : []),
    createResetPage(deps, service),
    createConfirmEmailPage(deps, service),
    createAccountPage(deps),
    createTokensPage(deps),
    createLinkedAccountsPage(deps, service),
    createLinkFoundPage(deps, service),
    createOwnSecondFactorPage(deps, service),
    createAuthenticatorAppPage(deps, service),
    createChangePasswordPage(deps, service),
    passwordStrengthPage,
    createChangeEmailPage(deps),
    createDocsPage(publicUrl),
  ]
}
