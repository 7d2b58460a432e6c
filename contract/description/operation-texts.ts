// The descriptions of all operations. The type check fails for an endpoint without a description and examples.

import type { EndpointName, Endpoints } from '../endpoints.ts'
import { accountTexts } from './account-texts.ts'
import { cameraTexts } from './camera-texts.ts'
import { detectionTexts } from './detection-texts.ts'
import type { OperationText } from './operation-text.ts'
import { recordingTexts } from './recording-texts.ts'
import { serverTexts } from './server-texts.ts'
import { sharingTexts } from './sharing-texts.ts'
import { storageTexts } from './storage-texts.ts'

export const operationTexts: { readonly [Name in EndpointName]: OperationText<Endpoints[Name]> } = {
  ...accountTexts,
  ...cameraTexts,
  ...detectionTexts,
  ...recordingTexts,
  ...serverTexts,
  ...sharingTexts,
  ...storageTexts,
}
