// What people prove besides the password.

export const secondFactorKinds = ['app', 'passkey', 'recovery_code'] as const

/** A code of an authenticator app, a passkey, or one of the codes on paper. */
export type SecondFactorKind = (typeof secondFactorKinds)[number]

/** As it is stored. Undefined for what is not known. */
export function parseSecondFactorKind(text: string | null): SecondFactorKind | undefined {
  return secondFactorKinds.find((kind) => kind === text)
}
