// Doubles the sample rate: every second sample is interpolated from its neighbors by a low-pass filter of 16 taps.

/** Number of neighbors on each side of a new sample. */
const reach = 8

const taps = createTaps()

function createTaps(): Float32Array {
  const taps = Float32Array.from({ length: reach }, (_, i) => {
    const distance = i + 0.5
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach)
    return (Math.sin(Math.PI * distance) / (Math.PI * distance)) * window
  })
  const sum = 2 * taps.reduce((total, tap) => total + tap, 0)
  return taps.map((tap) => tap / sum)
}

export class Upsampler {
  /** The last samples of the previous call, as many as the filter reaches back. */
  #past = new Float32Array(2 * reach - 1)

  /** Delay of the output in input samples. */
  static readonly delaySamples = reach

  /** Returns two samples for each input sample. */
  push(samples: Float32Array): Float32Array {
    const all = new Float32Array(this.#past.length + samples.length)
    all.set(this.#past)
    all.set(samples, this.#past.length)
    const out = new Float32Array(2 * samples.length)
    for (let i = 0; i < samples.length; i++) {
      const at = i + reach - 1
      out[2 * i] = all[at]!
      let between = 0
      for (let k = 0; k < reach; k++) between += taps[k]! * (all[at - k]! + all[at + 1 + k]!)
      out[2 * i + 1] = between
    }
    this.#past = all.slice(samples.length)
    return out
  }
}
