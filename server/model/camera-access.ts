// Who may see which camera: its owner and its guests. Which operations a credential covers is decided elsewhere
// (access.ts).

/** What one guest row allows. */
export type Share = {
  readonly canViewRecordings: boolean
  readonly sharesNotifications: boolean
  /** True if the guest has looked at the camera. */
  readonly isOpened: boolean
}

export type CameraRight =
  | { readonly role: 'owner' }
  | ({ readonly role: 'guest' } & Share)
  /** Indistinguishable for the caller from a camera that does not exist. */
  | { readonly role: 'none' }

type Account = { readonly id: number; readonly disabledAtMs: number | null }

export type AccessFacts = {
  /** The caller; undefined if there is no such account. */
  readonly user: Account | undefined
  /** The camera's owner; undefined if there is no such camera. */
  readonly owner: Account | undefined
  /** The user's rows among the camera's guests; several if they were invited by several addresses. */
  readonly shares: readonly Share[]
}

export function decideCameraRight({ user, owner, shares }: AccessFacts): CameraRight {
  if (!user || !owner || user.disabledAtMs !== null) return { role: 'none' }
  if (user.id === owner.id) return { role: 'owner' }
  const share = joinShares(shares)
  return share && owner.disabledAtMs === null ? { role: 'guest', ...share } : { role: 'none' }
}

export function canViewLive({ role }: CameraRight): boolean {
  return role !== 'none'
}

export function canViewRecordings(right: CameraRight): boolean {
  return right.role === 'owner' || (right.role === 'guest' && right.canViewRecordings)
}

/** The union of what they allow; undefined if there are none. */
function joinShares(shares: readonly Share[]): Share | undefined {
  if (shares.length === 0) return undefined
  return {
    canViewRecordings: shares.some((share) => share.canViewRecordings),
    sharesNotifications: shares.some((share) => share.sharesNotifications),
    isOpened: shares.every((share) => share.isOpened),
  }
}
