// What holds for all operations, in Markdown: paragraphs, lists, tables, fenced code and `code` alone, which is what
// the page of the description can draw.

import { allScopes } from '../../model/access.ts'
import { describeScopes } from '../../model/oauth/scope-descriptions.ts'

export type Chapter = { readonly title: string; readonly text: string }

/** `publicUrl`: origin of the server, without a slash at its end. */
export function writeIntroduction(publicUrl: string): readonly Chapter[] {
  return [
    {
      title: 'Getting a token',
      text: `Every request carries credentials in its \`Authorization\` header. There are two kinds.

**Personal access token**, for programs of your own: make one on [the page of your tokens](${publicUrl}/account/tokens/), or on the server with \`./nightjar token create --user you@example.com\`. It does not expire until it is revoked.

\`\`\`sh
curl -H 'Authorization: PersonalAccessToken njp_…' ${publicUrl}/v1/me/
\`\`\`

**OAuth 2.0 bearer token**, for programs that others use. Register the application (\`POST /v1/me/applications/\`), send the browser to \`/oauth/authorize/\`, exchange the code it brings back, and refresh the pair when any request is answered 401:

\`\`\`sh
curl ${publicUrl}/oauth/token/ \\
  -d grant_type=authorization_code -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET \\
  -d code=CODE -d redirect_uri=https://porch.example/back
curl ${publicUrl}/oauth/token/ \\
  -d grant_type=refresh_token -d client_id=CLIENT_ID -d refresh_token=REFRESH_TOKEN
\`\`\`

An application without a secret sends \`code_challenge\` and \`code_verifier\` (PKCE) instead of it. An access token lives for \`expires_in\` seconds, 36000 unless the server is set otherwise; then every request is answered 401. A refresh token is good once, and for 30 days; what it brings makes all earlier tokens of the log-in invalid. Where an application takes a name and a password itself (\`grant_type=password\`) it must never store them: to remember somebody it keeps the refresh token. Client libraries find all addresses at \`/.well-known/oauth-authorization-server\`.

While the server has a certificate that it made itself, programs have to be told to trust it: \`curl --cacert data/tls/cert.pem\`.`,
    },
    {
      title: 'Scopes',
      text: `What a token may be used for. Each operation names what it asks for; where there are several ways, one is enough.

| scope | what it lets a program do |
|---|---|
${describeScopes(allScopes)
  .map(({ name, description }) => `| \`${name}\` | ${description} |`)
  .join('\n')}

\`user_access\` is \`read\` and \`write\` together; \`write\` counts only together with \`read\`. No other scope includes \`account_manage\`; who wants it asks for it by name, and gives the password.`,
    },
    {
      title: 'Requests and answers',
      text: `Bodies are JSON, in requests and in answers, with \`Content-Type: application/json\`; a body has at most 64 KiB. Fields and parameters that are not known are ignored, and answers may have more keys one day. Every key of an object is there, with \`null\` where there is nothing to say.

Every path is answered with and without a slash at its end, without a redirect, and \`HEAD\` as \`GET\`, without the body. Links in answers are absolute and ready to use. Pages of any origin may ask (CORS), because no cookie counts here.

Checks come in this order: is the path known (404), are the credentials good (401), is there such a method (405), do the scopes cover it (403), does what the path names exist (404), is what was sent valid (400). What belongs to somebody else looks as if it did not exist.`,
    },
    {
      title: 'Pages of a list',
      text: `Lists are \`{count, next, previous, results}\`. \`limit\` sets the size of a page (100 when missing; more than 1000 is treated as 1000) and \`offset\` how many items are skipped. \`next\` and \`previous\` are the links to the neighbours and keep the other parameters; \`next\` is \`null\` at the end, \`previous\` at the start. An offset behind the end is an empty page. Programs should always name a \`limit\`.

\`\`\`sh
curl -H 'Authorization: PersonalAccessToken njp_…' '${publicUrl}/v1/events/?limit=50&offset=100'
\`\`\``,
    },
    {
      title: 'Times',
      text: `Answers write times as \`YYYY-MM-DDThh:mm:ssZ\`, in UTC. Requests may also have fractions of a second, no seconds, an offset such as \`+02:00\` (write \`%2B02:00\` in an address; a space in its place is understood), or no zone, which is UTC. Anything else is 400. Ranges include their start and exclude their end. A timeline covers at most one day.`,
    },
    {
      title: 'Errors',
      text: `Every answer under \`/v1/\` that is not a success has the same form: \`status\` repeats the HTTP status, \`title\` is for programs, \`detail\` for people. With \`invalid\`, \`errors\` names the fields and why, nested as the request is.

\`\`\`json
{
  "status": 400,
  "title": "invalid",
  "detail": "limit: A valid integer is required.",
  "errors": { "limit": ["A valid integer is required."] }
}
\`\`\`

| status | title | when |
|---|---|---|
| 400 | \`invalid\` | a field or parameter is missing or wrong |
| 400 | \`parse_error\` | the request, or the JSON in its body, cannot be read |
| 401 | \`not_authenticated\` | no credentials, or they are not good (any more): \`WWW-Authenticate\` says which |
| 403 | \`permission_denied\` | the scopes do not cover it, or only owners of the server may |
| 403 | \`https_required\` | the request came over plain HTTP |
| 404 | \`not_found\` | it does not exist, or not for the caller |
| 405 | \`method_not_allowed\` | the path does not have this method: \`Allow\` says which it has |
| 408 | \`request_timeout\` | the request took too long to arrive |
| 409 | \`conflict\` | it contradicts what is there |
| 413, 431 | \`payload_too_large\` | the body is larger than 64 KiB, or the headers are too large |
| 415 | \`unsupported_media_type\` | the body is not \`application/json\` |
| 416 | \`range_not_satisfiable\` | the file has no byte in this range |
| 417 | \`expectation_failed\` | \`Expect\` asks for something other than \`100-continue\` |
| 421 | \`misdirected_request\` | the server does not answer under the name it was asked for |
| 429 | \`rate_limited\` | too many requests: again after \`Retry-After\` seconds |
| 500 | \`internal_error\` | a fault of the server; its log has the cause |
| 503 | \`unavailable\` | not at the moment: again after \`Retry-After\` seconds |

The OAuth endpoints answer \`{error, error_description}\` instead, as RFC 6749 has it.`,
    },
    {
      title: 'Limits of requests',
      text: `Requests are counted by account and application; without good credentials, by address; with the hash of a camera, by camera, of which there are 10 a minute. \`RateLimit\` says how many are left (\`r\`) and after how many seconds all are again (\`t\`), \`RateLimit-Policy\` how many (\`q\`) there are in how many seconds (\`w\`). Beyond that the answer is 429.`,
    },
    {
      title: 'Live video and recordings',
      text: `Addresses of media come whole from other answers and open in a player or an \`<img>\` as they are, without an \`Authorization\` header: the address itself is the permission. Do not build them, and do not publish them. Those of a camera live for two hours; read the camera again for new ones. Those of a recorded stream live for 24 hours. When the right is lost, they are refused at once and open streams end within 5 seconds.

\`\`\`sh
curl -H 'Authorization: PersonalAccessToken njp_…' '${publicUrl}/v1/cameras/12/?max_width=640'
ffplay "$(… | jq -r '.streams[3].url')"
\`\`\``,
    },
    {
      title: 'Extensions and versions',
      text: `The version is the first part of the path: what is under \`/v1/\` stays as it is. What this server adds to the interface is marked \`x-nightjar-extension: true\` in \`/openapi.json\`, and as an extension wherever it is described: programs that must run elsewhere too do not count on it.`,
    },
  ]
}
