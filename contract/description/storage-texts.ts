// Descriptions and examples for the storage used by recordings.

import type { Endpoints } from '../endpoints.ts'
import type { storageEndpoints } from '../storage.ts'
import type { OperationText } from './operation-text.ts'

type Names = keyof typeof storageEndpoints

const sampleStorage = {
  used_bytes: 412_316_860_416,
  max_bytes: 500_000_000_000,
  share_bytes: 500_000_000_000,
  bytes_per_day: 21_600_000_000,
  full_at: '2026-05-05T01:20:00Z',
  cameras: [
    {
      id: 12,
      used_bytes: 412_316_860_416,
      max_bytes: null,
      bytes_per_day: 21_600_000_000,
      recording_start: '2026-04-11T22:13:05Z',
      retention_days: 30,
      forecast_days: 23.1,
    },
  ],
  server: null,
}

export const storageTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  getStorage: {
    tag: 'Recording',
    description:
      'Sizes are up to half a minute old. The forecast assumes the recording rate of the last 24 hours. Under a limit for several cameras, the oldest footage of all of them is deleted first.',
    answer: sampleStorage,
  },
  getUserStorage: {
    tag: 'Users',
    description: 'Returns what the user sees at `/v1/me/storage/`.',
    answer: sampleStorage,
  },
  updateUserStorage: {
    tag: 'Users',
    description:
      'Footage over the limit is deleted within seconds, oldest first. The limits of the single cameras also apply; the first limit reached takes effect.',
    bodies: { 'A limit': { max_bytes: 500_000_000_000 }, 'No limit': { max_bytes: null } },
    answer: sampleStorage,
  },
}
