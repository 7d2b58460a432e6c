// The introduction of the API description: what applies to all operations. The Markdown is limited to what the page can
// render: paragraphs, lists, tables, fenced code and `code`.

import { allScopes } from '../../model/access.ts'
import { describeScopes } from '../../model/oauth/scope-descriptions.ts'

export type Chapter = { readonly title: string; readonly text: string }

/** `publicUrl`: origin of the server, without a trailing slash. */
export function writeIntroduction(publicUrl: string): readonly Chapter[] {
  return [
    {
      title: 'Authentication',
      text: `Send credentials in the \`Authorization\` header of each request. There are two kinds.

**Personal access tokens** are for your own programs. Create one on the [tokens page](${publicUrl}/account/tokens/), or on the server with \`./nightjar token create --user you@example.com\`. A token is valid until it is revoked.

\`\`\`sh
curl -H 'Authorization: PersonalAccessToken njp_…' ${publicUrl}/v1/me/
\`\`\`

**OAuth 2.0 bearer tokens** are for applications that other people use. Register the application (\`POST /v1/me/applications/\`), send the user’s browser to \`/oauth/authorize/\`, and exchange the returned code for a pair of tokens. When a request returns 401, refresh the pair:

\`\`\`sh
curl ${publicUrl}/oauth/token/ \\
  -d grant_type=authorization_code -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET \\
  -d code=CODE -d redirect_uri=https://porch.example/back
curl ${publicUrl}/oauth/token/ \\
  -d grant_type=refresh_token -d client_id=CLIENT_ID -d refresh_token=REFRESH_TOKEN
\`\`\`

An application without a secret uses PKCE instead: it sends \`code_challenge\` and \`code_verifier\`. An access token is valid for \`expires_in\` seconds (36000 by default); after that, requests return 401. A refresh token can be used once, within 30 days. Using it invalidates all earlier tokens of the same sign-in. An application that asks for the password itself (\`grant_type=password\`) must never store it; store the refresh token to keep a user signed in. Client libraries find all endpoints at \`/.well-known/oauth-authorization-server\`.

If the server uses a certificate of its own, configure programs to trust it: \`curl --cacert data/tls/cert.pem\`.`,
    },
    {
      title: 'Scopes',
      text: `Scopes determine what a token may be used for. Each operation lists the scopes that it requires. If there are alternatives, one is sufficient.

| scope | permission |
|---|---|
${describeScopes(allScopes)
  .map(({ name, description }) => `| \`${name}\` | ${description} |`)
  .join('\n')}

\`user_access\` is equivalent to \`read\` and \`write\`. \`write\` is only effective together with \`read\`. No other scope includes \`account_manage\`: it must be requested by name and confirmed with the password.`,
    },
    {
      title: 'Requests and responses',
      text: `Request and response bodies are JSON with \`Content-Type: application/json\`. A request body may have up to 64 KiB. Unknown fields and parameters are ignored, and future versions may add keys to responses. All keys of an object are always present; a key without a value is \`null\`.

Paths work with and without a trailing slash and are not redirected. \`HEAD\` returns the same as \`GET\` without the body. Links in responses are absolute and ready to use. Pages of any origin may send requests (CORS), because cookies are ignored.

Requests are checked in this order: the path (404), the credentials (401), the method (405), the scopes (403), the resource in the path (404), and the input (400). Resources of other users are reported as not found.`,
    },
    {
      title: 'Pagination',
      text: `Lists have the form \`{count, next, previous, results}\`. \`limit\` sets the page size (default 100; values above 1000 are treated as 1000), and \`offset\` the number of items to skip. \`next\` and \`previous\` are the URLs of the adjacent pages and keep the other parameters. \`next\` is \`null\` on the last page, \`previous\` on the first. An offset beyond the end returns an empty page. Programs should always set \`limit\`.

\`\`\`sh
curl -H 'Authorization: PersonalAccessToken njp_…' '${publicUrl}/v1/events/?limit=50&offset=100'
\`\`\``,
    },
    {
      title: 'Times',
      text: `Responses contain times in UTC as \`YYYY-MM-DDThh:mm:ssZ\`. In requests, seconds may have a fraction or be omitted, and the time may have an offset such as \`+02:00\`; without one, it is in UTC. In a URL, write the offset as \`%2B02:00\`; a space in place of the plus sign is accepted. Other formats are rejected with 400. Ranges include their start and exclude their end. A timeline covers at most one day, which has 25 hours when the clocks are set back.`,
    },
    {
      title: 'Errors',
      text: `All error responses under \`/v1/\` have the same form. \`status\` repeats the HTTP status, \`title\` is a code for programs, and \`detail\` is a text for people. If \`title\` is \`invalid\`, \`errors\` contains the reasons for each field, nested like the request. If a token that was sent is invalid or lacks a scope, \`errors\` says so under \`authorization\` or \`scope\`.

\`\`\`json
{
  "status": 400,
  "title": "invalid",
  "detail": "limit: A valid integer is required.",
  "errors": { "limit": ["A valid integer is required."] }
}
\`\`\`

| status | title | cause |
|---|---|---|
| 400 | \`invalid\` | a field or parameter is missing or invalid |
| 400 | \`parse_error\` | the request, or the JSON in its body, could not be parsed |
| 401 | \`not_authenticated\` | the credentials are missing, invalid or expired; see \`WWW-Authenticate\` |
| 403 | \`permission_denied\` | a scope is missing, or the operation is for owners of the server only |
| 403 | \`https_required\` | the request came over plain HTTP |
| 404 | \`not_found\` | the resource does not exist or is not visible to the caller |
| 405 | \`method_not_allowed\` | the path does not support the method; \`Allow\` lists those it supports |
| 408 | \`request_timeout\` | the request took too long to arrive |
| 409 | \`conflict\` | the request conflicts with the current state |
| 413, 431 | \`payload_too_large\` | the body exceeds 64 KiB, or the headers are too large |
| 415 | \`unsupported_media_type\` | the body is not \`application/json\` |
| 416 | \`range_not_satisfiable\` | the range is outside of the file |
| 417 | \`expectation_failed\` | \`Expect\` is not \`100-continue\` |
| 421 | \`misdirected_request\` | the server is not configured for the host name of the request |
| 429 | \`rate_limited\` | too many requests; retry after \`Retry-After\` seconds |
| 500 | \`internal_error\` | internal error; the log of the server has the cause |
| 503 | \`unavailable\` | temporarily unavailable; retry after \`Retry-After\` seconds |

The OAuth endpoints return \`{error, error_description}\` instead (RFC 6749).`,
    },
    {
      title: 'Rate limits',
      text: `Requests are limited per account and application. Requests without valid credentials are limited per IP address, and requests with the hash of a camera to 10 per minute and camera. \`RateLimit\` contains the number of remaining requests (\`r\`) and the number of seconds until the full quota is available again (\`t\`). \`RateLimit-Policy\` contains the quota (\`q\`) and its period in seconds (\`w\`). Requests beyond the limit return 429.`,
    },
    {
      title: 'Live video and recordings',
      text: `Other responses contain complete media URLs. They work in a player or an \`<img>\` element without an \`Authorization\` header, because the URL itself is the credential: do not construct or publish media URLs. The URLs of a camera are valid for two hours; request the camera again to get new ones. The URLs of a recorded stream are valid for 24 hours. When access is revoked, the URLs stop working immediately and open streams end within 5 seconds.

\`\`\`sh
curl -H 'Authorization: PersonalAccessToken njp_…' '${publicUrl}/v1/cameras/12/?max_width=640'
ffplay "$(… | jq -r '.streams[3].url')"
\`\`\``,
    },
    {
      title: 'Extensions and versions',
      text: `The version is the first segment of the path. Operations under \`/v1/\` remain compatible. Additions of this server to the interface are marked with \`x-nightjar-extension: true\` in \`/openapi.json\` and as an extension in their descriptions. Programs that must also run with other servers should not depend on them.`,
    },
  ]
}
