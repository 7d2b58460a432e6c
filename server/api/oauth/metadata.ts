// GET /.well-known/oauth-authorization-server: what client libraries need to know about this server (RFC 8414).

import type { FastifyInstance } from 'fastify'
import { allScopes } from '../../model/access.ts'
import { grantTypes } from '../../model/oauth/token-request.ts'
import { sendEmpty, sendJson } from '../answer.ts'
import { languageTags } from '../pages/texts/languages.ts'

const path = '/.well-known/oauth-authorization-server'

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

/** `issuer` is the public origin of this server. */
export function registerMetadata(server: FastifyInstance, issuer: string): void {
  const authMethods = ['client_secret_basic', 'client_secret_post', 'none']
  const json = JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize/`,
    token_endpoint: `${issuer}/oauth/token/`,
    revocation_endpoint: `${issuer}/oauth/token-revoke/`,
    service_documentation: `${issuer}/docs/`,
    ui_locales_supported: languageTags,
    scopes_supported: allScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  })
  server.get(path, async (_request, reply) => sendJson(reply, 200, json))
  server.options(path, (_request, reply) => sendEmpty(reply, 204, preflightHeaders))
}
