// Who a client calls as. A session (session.ts) is one of these too.

export type Auth = {
  /** The value of the Authorization header now. Throws when there is none any more. */
  authorization(): string
  /** After a 401 to `refused`: sees to it that another one takes its place, or rejects. Missing where nothing can be renewed. */
  renew?(refused: string): Promise<void>
}

/** A personal access token: for one's own programs; never expires, until it is revoked. */
export function personalToken(token: string): Auth {
  return { authorization: () => `PersonalAccessToken ${token}` }
}
