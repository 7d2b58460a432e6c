// The API description in OpenAPI 3.1. It is generated from the contract, and from handwritten descriptions of the
// endpoints that the contract does not contain (OAuth, media, the server itself).

import { sampleOrigin } from '../../../contract/description/samples.ts'
import { tags } from '../../../contract/description/tags.ts'
import { allScopes } from '../../model/access.ts'
import { describeScopes } from '../../model/oauth/scope-descriptions.ts'
import { writeIntroduction } from './introduction.ts'
import { mediaPaths } from './media-paths.ts'
import { oauthPaths, oauthSchemas } from './oauth-paths.ts'
import type { OpenApiDocument, SecurityScheme } from './openapi.ts'
import { writeOperations } from './operations.ts'
import { headers, writeSharedRefusals } from './refusals.ts'
import { SchemaWriter } from './schemas.ts'
import { serverPaths } from './server-paths.ts'

/** The version of the API, not of the program. */
const version = '1.0.0'

/** `publicUrl`: the origin of the server as clients reach it, without a trailing slash. Examples contain it. */
export function createDescription(publicUrl: string): OpenApiDocument {
  const schemas = new SchemaWriter()
  const paths = { ...Object.fromEntries(writeOperations(schemas)), ...mediaPaths, ...oauthPaths, ...serverPaths }
  const responses = writeSharedRefusals(paths, schemas)
  const used = new Set(Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)))
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: {
      title: 'Nightjar',
      version,
      summary: 'Cameras, live and recorded',
      description: writeIntroduction(publicUrl)
        .map(({ title, text }) => `## ${title}\n\n${text}`)
        .join('\n\n'),
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: Object.entries(tags)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...schemas.components, ...oauthSchemas },
      responses,
      headers,
      securitySchemes: createSecuritySchemes(publicUrl),
    },
  }
  return replaceOrigin(document, publicUrl)
}

function createSecuritySchemes(publicUrl: string): { [name: string]: SecurityScheme } {
  const scopes = Object.fromEntries(describeScopes(allScopes).map(({ name, description }) => [name, description]))
  const tokenUrl = `${publicUrl}/oauth/token/`
  return {
    oauth2: {
      type: 'oauth2',
      description: 'Access tokens of applications: `Authorization: Bearer …`.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${publicUrl}/oauth/authorize/`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes,
        },
        password: { tokenUrl, refreshUrl: tokenUrl, scopes },
      },
    },
    personalAccessToken: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description:
        'Personal access tokens: the value of the header is the word `PersonalAccessToken`, a space, and the token, for instance `PersonalAccessToken njp_…`. A scheme of its own, and not Bearer.',
    },
    clientSecret: {
      type: 'http',
      scheme: 'basic',
      description: 'Client id and client secret of an application, at the OAuth endpoints alone.',
    },
  }
}

/** Makes the examples refer to the described server. */
function replaceOrigin(document: OpenApiDocument, publicUrl: string): OpenApiDocument {
  return JSON.parse(JSON.stringify(document).replaceAll(sampleOrigin, publicUrl)) as OpenApiDocument
}
