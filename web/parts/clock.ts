// Formats moments in the user's language and time zone.

import { useMemo } from 'react'
import type { Zone } from '../model/zone.ts'
import { useLanguage } from '../texts/texts.tsx'

export type Clock = {
  /** With seconds. */
  time(ms: number): string
  minutes(ms: number): string
  day(ms: number): string
  dayOfYear(ms: number): string
  /** With the year. */
  date(ms: number): string
  fullDay(ms: number): string
  /** Without the year. */
  moment(ms: number): string
  dateTime(ms: number): string
}

const browserZone = { name: Intl.DateTimeFormat().resolvedOptions().timeZone }

/** Uses the browser's time zone unless another is given. */
export function useClock({ name }: Pick<Zone, 'name'> = browserZone): Clock {
  const { language } = useLanguage()
  return useMemo(() => {
    // Created on first use: each formatter takes longer to create than a list row to render, and a row needs one or
    // two.
    const write = (options: Intl.DateTimeFormatOptions) => {
      let format: Intl.DateTimeFormat | undefined
      return (ms: number) => {
        format ??= new Intl.DateTimeFormat(language, { ...options, timeZone: name })
        return format.format(ms)
      }
    }
    return {
      time: write({ timeStyle: 'medium' }),
      minutes: write({ timeStyle: 'short' }),
      day: write({ weekday: 'short', day: 'numeric', month: 'short' }),
      dayOfYear: write({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
      date: write({ dateStyle: 'long' }),
      fullDay: write({ dateStyle: 'full' }),
      moment: write({
        ...{ weekday: 'short', day: 'numeric', month: 'short' },
        ...{ hour: 'numeric', minute: '2-digit', second: '2-digit' },
      }),
      dateTime: write({ dateStyle: 'full', timeStyle: 'medium' }),
    }
  }, [language, name])
}
