// Signing in with an account of the server: authorization code with PKCE. The page never sees a password, and keeps tokens in memory.

import { createAuthorizeUrl, exchangeCode, readAuthorizationCode, Session } from 'nightjar-sdk'

const redirectUri = `${location.origin}/`
const attemptKey = 'attempt'

/** Leaves the page; the browser comes back with a code. */
export async function startSignIn(app) {
  const { url, state, codeVerifier } = await createAuthorizeUrl(app, { redirectUri, scope: 'read' })
  sessionStorage.setItem(attemptKey, JSON.stringify({ state, codeVerifier }))
  location.assign(url)
}

/** Undefined when the browser does not come back from signing in. Throws when that was refused. */
export async function finishSignIn(app) {
  if (!new URLSearchParams(location.search).has('state')) return undefined
  const callback = location.href
  const { state, codeVerifier } = JSON.parse(sessionStorage.getItem(attemptKey) ?? '{}')
  // Both are good for once: neither a reload nor the history shall bring them back.
  sessionStorage.removeItem(attemptKey)
  history.replaceState(null, '', redirectUri)
  const code = readAuthorizationCode(callback, { state })
  return new Session({ ...app, tokens: await exchangeCode(app, { code, redirectUri, codeVerifier }) })
}
