// Requests to the token endpoint (RFC 6749 sections 4.1.3, 4.3.2 and 6).

import type { Fields } from './fields.ts'
import { OAuthError } from './oauth-error.ts'

export const grantTypes = ['authorization_code', 'password', 'refresh_token'] as const

export type GrantType = (typeof grantTypes)[number]

export type TokenRequest =
  | {
      readonly grantType: 'password'
      readonly username: string
      readonly password: string
      readonly scope?: string | undefined
    }
  | {
      readonly grantType: 'authorization_code'
      readonly code: string
      readonly redirectUri: string | undefined
      /** RFC 7636. */
      readonly codeVerifier: string | undefined
    }
  | { readonly grantType: 'refresh_token'; readonly refreshToken: string; readonly scope?: string | undefined }

/** Throws 'unsupported_grant_type'. */
export function readGrantType(fields: Fields): GrantType {
  const grantType = grantTypes.find((known) => known === fields.get('grant_type'))
  if (!grantType) throw new OAuthError('unsupported_grant_type')
  return grantType
}

/** Throws 'invalid_request' if something is missing. */
export function readTokenRequest(grantType: GrantType, fields: Fields): TokenRequest {
  switch (grantType) {
    case 'password':
      return {
        grantType,
        username: require(fields, 'username', 'Request is missing username parameter.'),
        password: require(fields, 'password', 'Request is missing password parameter.'),
        scope: fields.get('scope'),
      }
    case 'authorization_code':
      return {
        grantType,
        code: require(fields, 'code', 'Missing code parameter.'),
        redirectUri: fields.get('redirect_uri'),
        codeVerifier: fields.get('code_verifier'),
      }
    case 'refresh_token':
      return {
        grantType,
        refreshToken: require(fields, 'refresh_token', 'Missing refresh token parameter.'),
        scope: fields.get('scope'),
      }
  }
}

function require(fields: Fields, name: string, description: string): string {
  const value = fields.get(name)
  if (value === undefined) throw new OAuthError('invalid_request', description)
  return value
}
