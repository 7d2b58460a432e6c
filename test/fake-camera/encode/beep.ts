// The audio of the camera: a short beep at the start of each second, its pitch another each minute. A function of time
// only.

const beepSeconds = 0.12
/** Semitones above A4 for the minutes, one after the other: a pentatonic scale up and down. */
const scale = [0, 2, 4, 7, 9, 12, 9, 7, 4, 2] as const

/** Pitch of the beeps of the minute this Unix time lies in, in hertz. */
export function beepHertz(unixMs: number): number {
  return 440 * 2 ** (scale[Math.floor(unixMs / 60_000) % scale.length]! / 12)
}

/** `count` samples in −1…1 from the Unix time `unixMs` on. */
export function createBeeps(unixMs: number, count: number, sampleRate: number): Float32Array {
  const samples = new Float32Array(count)
  for (let i = 0; i < count; i++) {
    const ms = unixMs + (i * 1000) / sampleRate
    const seconds = (ms % 1000) / 1000
    if (seconds >= beepSeconds) continue
    const envelope = Math.sin((Math.PI * seconds) / beepSeconds) ** 0.5
    samples[i] = 0.25 * envelope * Math.sin(2 * Math.PI * beepHertz(ms) * seconds)
  }
  return samples
}
