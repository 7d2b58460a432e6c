// A folder as the only place of an archive, for tests.

import { firstPlaceId, type Place } from '../../../server/model/place.ts'
import { Places } from '../../../server/places/places.ts'
import { createNodeDisk, type RecordingDisk } from '../../../server/recorder/recording-disk.ts'
import { createSingleTarget, type RecordingTargets } from '../../../server/recorder/recording-targets.ts'

export const testMark = '0123456789abcdef0123456789abcdef'

export function createPlace(folder: string, values: Partial<Place> = {}): Place {
  return { id: firstPlaceId, folder, mark: testMark, weight: 1, isDraining: false, ...values }
}

export function onePlace(folder: string): Places {
  return new Places([createPlace(folder)])
}

/** The same for recorders. `disk`: default: the system's. */
export function oneTarget(folder: string, disk: RecordingDisk = createNodeDisk(folder)): RecordingTargets {
  return createSingleTarget({ placeId: firstPlaceId, folder, disk })
}
