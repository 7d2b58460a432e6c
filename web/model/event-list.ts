// Groups events by day and lists the categories to filter by.

import { startOfDay, type Zone } from './zone.ts'

/** Categories that this server reports itself. */
export const ownKinds = [
  'camera_offline',
  'camera_online',
  'recording_gap',
  'recording_error',
  'camera_clock',
  'packet_loss',
  'clock_set',
] as const

export type Day<T> = { readonly startMs: number; readonly events: readonly T[] }

/** Groups by day in the given time zone, in list order. Events that are out of order are not moved. */
export function cutIntoDays<T extends { readonly occurred_at: string }>(events: readonly T[], zone: Zone): Day<T>[] {
  const days: { startMs: number; events: T[] }[] = []
  for (const event of events) {
    const startMs = startOfDay(Date.parse(event.occurred_at), zone)
    if (days.at(-1)?.startMs !== startMs) days.push({ startMs, events: [] })
    days.at(-1)!.events.push(event)
  }
  return days
}

/** The server's own categories first, then those that were seen and the one that is filtered by, sorted by name. */
export function listKinds(seen: Iterable<string>, asked: string | undefined): string[] {
  const others = new Set([...seen, ...(asked === undefined ? [] : [asked])])
  for (const kind of ownKinds) others.delete(kind)
  return [...ownKinds, ...[...others].sort()]
}
