// nightjar camera discover and camera profiles: finds cameras on the local network and lists their streams with ONVIF,
// from this machine. It needs neither a server nor data.

import { writeDevice, writeDiscovery } from '../api/answers/onvif.ts'
import { parseOnvifUrl } from '../model/onvif-url.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'
import { openProbeContext } from './open-probe-context.ts'
import { cameraPasswordOption, readCameraUrl } from './secret-input.ts'
import { writeTable } from './table.ts'

type Profile = ReturnType<typeof writeDevice>['profiles'][number]

const options = { 'allow-loopback-cameras': serverOptions['allow-loopback-cameras']! }

const discoverCommand: Command = {
  name: 'camera discover',
  summary: 'Discover cameras on the local network.',
  positionals: [],
  options,
  async run({ config }) {
    const { discoverDevices } = await import('../ingest/onvif/discover-devices.ts')
    const { allowLoopbackCameras: includesLoopback } = config
    const found = writeDiscovery(await discoverDevices({ ...(await openProbeContext(config)), includesLoopback }))
    const rows = found.devices.map((device) => [
      device.address,
      device.name ?? '',
      device.hardware ?? '',
      device.location ?? '',
      device.url,
    ])
    const none =
      'No camera answered. Check that ONVIF is enabled on the camera and that the camera is on the same network.'
    return { json: found, text: writeTable(['ADDRESS', 'NAME', 'MODEL', 'LOCATION', 'ONVIF'], rows, none) }
  },
}

const profilesCommand: Command = {
  name: 'camera profiles',
  summary: 'List the streams of an ONVIF camera. HOST is a host, user@host, or a URL from "camera discover".',
  positionals: ['HOST'],
  options: { ...cameraPasswordOption, ...options },
  async run(call) {
    const { config, positionals } = call
    const { url, username, password } = await readCameraUrl(call, profilesCommand, positionals[0]!, parseOnvifUrl)
    const { readOnvifDevice } = await import('../ingest/onvif/read-device.ts')
    const target = { url, username: username ?? undefined, password: password ?? undefined, canSeeProblems: true }
    const found = writeDevice(url, await readOnvifDevice({ ...(await openProbeContext(config)), target }))
    const { manufacturer, model, firmware_version, profiles, problem } = found
    const name = [manufacturer, model, firmware_version && `(${firmware_version})`].filter(Boolean).join(' ')
    const rows = profiles.map((profile) => [
      profile.use ?? '',
      profile.name,
      describeVideo(profile),
      profile.has_audio ? 'yes' : 'no',
      profile.url ?? profile.url_problem ?? '',
    ])
    const table = profiles.length === 0 ? '' : writeTable(['USE', 'NAME', 'VIDEO', 'AUDIO', 'URL'], rows, '')
    const problemLine = problem ? `Problem: ${problem.detail} (${problem.code})` : ''
    return {
      json: found,
      text: [name, table, problemLine].filter((part) => part !== '').join('\n'),
      ...(problem && { isFailure: true }),
    }
  },
}

export const onvifCommands: readonly Command[] = [discoverCommand, profilesCommand]

function describeVideo({ encoding, width, height, frame_rate, bit_rate }: Profile): string {
  return [
    encoding ?? 'unknown',
    width !== null && height !== null && `${width} × ${height}`,
    frame_rate !== null && `${frame_rate}/s`,
    bit_rate !== null && `${(bit_rate / 1e6).toFixed(1)} Mbit/s`,
  ]
    .filter(Boolean)
    .join(', ')
}
