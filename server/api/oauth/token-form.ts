// The body of a request to the token endpoints: a form in either encoding. Repeated fields are preserved.

import { OAuthError } from '../../model/oauth/oauth-error.ts'

export const maxFormBytes = 16 * 1024

export type FormEntries = readonly (readonly [name: string, value: string])[]

/** Throws 'invalid_request'. JSON counts as a form without fields, as on other servers. */
export async function readForm(body: Buffer | undefined, contentType = ''): Promise<FormEntries> {
  if (body === undefined || body.length === 0) return []
  const [mediaType] = contentType.split(';', 1)
  switch (mediaType!.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return [...new URLSearchParams(body.toString('utf8'))]
    case 'multipart/form-data':
      return readMultipart(body, contentType)
    case 'application/json':
      return []
    default:
      throw new OAuthError('invalid_request', 'The request is not a form.')
  }
}

async function readMultipart(body: Buffer, contentType: string): Promise<FormEntries> {
  let form: FormData
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw new OAuthError('invalid_request', 'The multipart body cannot be read.')
  }
  return [...form].map(([name, value]) => {
    if (typeof value !== 'string') throw new OAuthError('invalid_request', 'A parameter is a file.')
    return [name, value]
  })
}
