// How long a browser stays signed in.

export const sessionIdleMs = 14 * 86_400_000
