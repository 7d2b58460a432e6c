// What cameras reported by ONVIF, for the user who requested it.

import type { OnvifDevice, OnvifDiscovery } from '../../../contract/detection.ts'
import type { DiscoveredDevice } from '../../ingest/onvif/discover-devices.ts'
import type { OnvifDevice as FoundDevice } from '../../ingest/onvif/read-device.ts'
import { chooseProfiles } from '../../model/onvif-choice.ts'

export function writeDiscovery(devices: readonly DiscoveredDevice[]): OnvifDiscovery {
  return {
    devices: devices.map(({ id, address, url, name, hardware, location }) => ({
      id,
      address,
      url,
      name: name ?? null,
      hardware: hardware ?? null,
      location: location ?? null,
    })),
  }
}

export function writeDevice(url: string, { device, profiles, problem }: FoundDevice): OnvifDevice {
  const uses = chooseProfiles(
    profiles.map((profile) => ({ ...profile, isUsable: profile.codec !== undefined && profile.url !== undefined })),
  )
  return {
    url,
    manufacturer: device?.manufacturer ?? null,
    model: device?.model ?? null,
    firmware_version: device?.firmwareVersion ?? null,
    profiles: profiles.map((profile, index) => ({
      token: profile.token,
      name: profile.name,
      use: uses[index] ?? null,
      type: profile.codec ?? null,
      encoding: profile.encoding ?? null,
      width: profile.width ?? null,
      height: profile.height ?? null,
      frame_rate: profile.framesPerSecond ?? null,
      bit_rate: profile.bitRateKbps === undefined ? null : profile.bitRateKbps * 1000,
      has_audio: profile.hasAudio,
      url: profile.url ?? null,
      url_problem: profile.urlProblem ?? null,
      snapshot_url: profile.snapshotUrl ?? null,
    })),
    problem: problem ? { code: problem.code, detail: problem.detail } : null,
  }
}
