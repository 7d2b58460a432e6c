// How long to wait, in the largest unit that says it well; the units are the same in all languages.

export function writeWait(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`
  return seconds < 100 * 60 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`
}
