// Decodes G.711: µ-law or A-law bytes to linear samples (ITU-T G.711 tables 1 and 2).

/** Linear samples from −1 to 1 for each of the 256 codes. */
export type G711Table = Float32Array

const full = 32768

/** 14 bits of linear range, in the upper bits of 16. */
export const muLawTable: G711Table = Float32Array.from({ length: 256 }, (_, code) => {
  const inverted = ~code
  const magnitude = ((((inverted & 0x0f) << 3) + 132) << ((inverted & 0x70) >> 4)) - 132
  return (inverted & 0x80 ? -magnitude : magnitude) / full
})

/** 13 bits of linear range, in the upper bits of 16. */
export const aLawTable: G711Table = Float32Array.from({ length: 256 }, (_, code) => {
  const even = code ^ 0x55
  const segment = (even & 0x70) >> 4
  const step = ((even & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? step : (step + 256) << (segment - 1)
  return (even & 0x80 ? magnitude : -magnitude) / full
})
