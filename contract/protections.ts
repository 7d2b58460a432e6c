// What a process that decodes may be kept from; see the table in docs/design/isolation.md.

export const protections = [
  'network',
  'files',
  'processes',
  'system_calls',
  'memory',
  'threads',
  'privileges',
  'permission_model',
] as const

export type Protection = (typeof protections)[number]
