// nightjar camera …

import { AppError } from '../base/error.ts'
import { writeByteSize } from '../model/byte-size.ts'
import { parseCameraName } from '../model/camera-name.ts'
import { guessCameraType, hideSecrets } from '../model/camera-url.ts'
import { parseDurationMs } from '../model/duration.ts'
import { isRecordedAt } from '../model/recording-run.ts'
import { writeTime } from '../model/time.ts'
import type { Camera, CameraType } from '../store/cameras/cameras.ts'
import type { PolicyChange, Recording } from '../store/cameras/recordings.ts'
import type { Store } from '../store/store.ts'
import { type Command, UsageError } from './command.ts'
import { damagedCommand } from './damaged-command.ts'
import { getNamedUser, parseId, parseMaxSize, parseNewId } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { cameraPasswordOption, readCameraUrl } from './secret-input.ts'
import { showCommand } from './show-command.ts'
import { writeTable } from './table.ts'

const cameraAdd: Command = {
  name: 'camera add',
  summary: 'Add a camera.',
  positionals: [],
  options: {
    user: { placeholder: 'USER', description: 'Owner of the camera: email address or id.', isRequired: true },
    name: { placeholder: 'NAME', description: 'Name of the camera.', isRequired: true },
    url: {
      placeholder: 'URL',
      description:
        'Camera URL: rtsp://user@host/path, or http:// for MJPEG and single images. Use - to read it from standard input. The password is stored encrypted.',
      isRequired: true,
    },
    ...cameraPasswordOption,
    record: {
      placeholder: 'DURATION',
      description: 'Record, and keep recordings for this long, for example P7D or PT12H.',
    },
    'max-size': {
      placeholder: 'SIZE',
      description:
        'With --record: size limit for recordings, for example 50GB. The oldest are deleted first. Default: no limit.',
    },
    type: {
      placeholder: 'TYPE',
      description:
        'Video codec: h264, h265 or mjpeg. Default: h264, or mjpeg for http://. It is corrected when the camera connects.',
    },
    id: { placeholder: 'N', description: 'Id to keep when moving from another server. Default: the next free id.' },
  },
  async run(call) {
    const { config, options } = call
    const source = await readCameraUrl(call, cameraAdd, options.url!)
    await checkAddress(source.url)
    const id = parseNewId(options.id)
    const type = parseType(options.type ?? guessCameraType(source.url))
    const name = parseCameraName(options.name!)
    const { record: retention } = options
    if (retention !== undefined) parseDurationMs(retention)
    const maxBytes = parseMaxSize(options['max-size']) ?? null
    if (retention === undefined && maxBytes !== null) throw new UsageError('--max-size requires --record', cameraAdd)
    return withStore(config, async (store) => {
      const { id: ownerId } = await getNamedUser(store, options.user!)
      const policy = retention === undefined ? undefined : { retention, maxBytes }
      const camera = await store.cameras.insert({ id, ownerId, name, type, ...source, recording: policy })
      const recording = policy && (await store.recordings.find(camera.id))
      const recorded = recording ? `, recorded for ${describePolicy(recording)}` : ''
      return { json: writeCamera(camera, recording), text: `Added camera ${camera.id}, ${camera.name}${recorded}.` }
    })
  },
}

const cameraList: Command = {
  name: 'camera list',
  summary: 'List cameras with their status.',
  positionals: [],
  options: { user: { placeholder: 'USER', description: 'Only cameras of this user: email address or id.' } },
  run: ({ config, options }) =>
    withStore(config, async (store) => {
      const ownerId = options.user === undefined ? undefined : (await getNamedUser(store, options.user)).id
      const cameras = (await store.cameras.list()).filter(
        (camera) => ownerId === undefined || camera.ownerId === ownerId,
      )
      const recordings = new Map((await store.recordings.list()).map((recording) => [recording.cameraId, recording]))
      const rows = cameras.map((camera) => [
        String(camera.id),
        camera.name,
        camera.status,
        describeRecording(recordings.get(camera.id)),
        hideSecrets(camera.url),
        describeProblems(camera, recordings.get(camera.id)),
      ])
      const text = writeTable(['ID', 'NAME', 'STATUS', 'RECORDING', 'URL', 'REASON'], rows, 'There are no cameras.')
      return { json: { cameras: cameras.map((camera) => writeCamera(camera, recordings.get(camera.id))) }, text }
    }),
}

const cameraRemove: Command = {
  name: 'camera remove',
  summary: 'Delete a camera and its recordings.',
  positionals: ['CAMERA_ID'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const id = parseId('camera', positionals[0]!)
      const { name } = await store.cameras.get(id)
      await store.cameras.remove(id)
      return { json: { id, removed: true }, text: `Removed camera ${id}, ${name}.` }
    }),
}

const cameraRecord: Command = {
  name: 'camera record',
  summary: 'Turn recording of a camera on or off, or change it.',
  positionals: ['CAMERA_ID'],
  options: {
    retention: { placeholder: 'DURATION', description: 'Keep recordings for this long, for example P7D or PT12H.' },
    'max-size': {
      placeholder: 'SIZE',
      description: 'Size limit for recordings, for example 50GB, or "none". The oldest are deleted first.',
    },
    local: {
      placeholder: 'DURATION',
      description:
        'With a bucket: keep recordings on the local disks for this long before they move there, for example P7D, or "default" for what the bucket says.',
    },
    off: { description: 'Stop recording. Existing recordings are kept until they expire.' },
  },
  async run({ config, options, positionals, switches }) {
    const { retention, 'max-size': maxSize, local } = options
    const isChange = (retention ?? maxSize ?? local) !== undefined
    if (isChange === switches.has('off')) {
      throw new UsageError('specify --retention, --max-size, --local or several, or --off alone', cameraRecord)
    }
    if (retention !== undefined) parseDurationMs(retention)
    const maxBytes = parseMaxSize(maxSize)
    const localRetention = local === 'default' ? null : local
    if (typeof localRetention === 'string') parseDurationMs(localRetention)
    return withStore(config, async (store) => {
      const camera = await store.cameras.get(parseId('camera', positionals[0]!))
      if (isChange) await changeRecording(store, camera.id, { retention, maxBytes, localRetention })
      else await store.recordings.disable(camera.id)
      const recording = await store.recordings.find(camera.id)
      return { json: writeCamera(camera, recording), text: `Camera ${camera.id}: ${describeRecording(recording)}.` }
    })
  },
}

const cameraRotateHash: Command = {
  name: 'camera rotate-hash',
  summary: 'Replace the event hash of a camera. The previous hash stops working.',
  positionals: ['CAMERA_ID'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const camera = await store.cameras.rotateEventApiHash(parseId('camera', positionals[0]!))
      await record(store, {
        event: 'camera.hash_replaced',
        userId: camera.ownerId,
        subject: null,
        detail: { camera: camera.id },
      })
      const recording = await store.recordings.find(camera.id)
      return { json: writeCamera(camera, recording), text: `Hash of camera ${camera.id}: ${camera.eventApiHash}` }
    }),
}

export const cameraCommands: readonly Command[] = [
  cameraAdd,
  cameraList,
  showCommand,
  damagedCommand,
  cameraRecord,
  cameraRotateHash,
  cameraRemove,
]

/**
 * Refuses URLs that no server accepts. Whether private networks and loopback are allowed may be configured on the
 * server only.
 */
async function checkAddress(url: string): Promise<void> {
  const { createAddressGuard } = await import('../ingest/network/address-guard.ts')
  const { parseCameraUrl: parseTarget } = await import('../ingest/network/camera-url.ts')
  const { host, port } = parseTarget(url)
  createAddressGuard({ allowLoopback: true }).check(host, port)
}

/**
 * While recording is on, settings that are not specified stay. Throws 'invalid' when it is off and no retention is
 * specified.
 */
async function changeRecording(
  { recordings }: Pick<Store, 'recordings'>,
  cameraId: number,
  change: { [Name in keyof PolicyChange]: PolicyChange[Name] | undefined },
): Promise<void> {
  const known = await recordings.find(cameraId)
  const current = known?.deactivatedAtMs === null ? known : undefined
  const retention = change.retention ?? current?.retention
  if (retention === undefined)
    throw new AppError('invalid', `camera ${cameraId} is not recorded: specify --retention too`)
  const { maxBytes = current?.maxBytes ?? null, localRetention = current?.localRetention ?? null } = change
  const policy = { retention, maxBytes, localRetention }
  // Turning recording on resumes a stopped recording. Other settings alone do not.
  if (current && change.retention === undefined) await recordings.update(cameraId, policy)
  else await recordings.enable(cameraId, policy)
}

function parseType(text: string): CameraType {
  if (text === 'h264' || text === 'h265' || text === 'mjpeg') return text
  throw new AppError('invalid', `--type: expected h264, h265 or mjpeg, got "${text}"`)
}

function describeRecording(recording: Recording | undefined): string {
  if (!recording || recording.deactivatedAtMs !== null) return 'off'
  const state = isRecordedAt(recording, Date.now()) ? recording.status : 'stopped'
  return `${state} ${describePolicy(recording)}`
}

function describePolicy({ retention, maxBytes, localRetention }: Recording): string {
  return [
    retention,
    ...(maxBytes === null ? [] : [`at most ${writeByteSize(maxBytes)}`]),
    ...(localRetention === null ? [] : [`on the local disks for ${localRetention}`]),
  ].join(', ')
}

function describeProblems(camera: Camera, recording: Recording | undefined): string {
  const problems = [
    camera.status === 'offline' ? (camera.statusDetail ?? camera.statusReason) : null,
    recording?.statusDetail,
  ]
  return problems.filter((problem) => problem).join(' ')
}

function writeCamera(camera: Camera, recording: Recording | undefined) {
  const isRecorded = recording !== undefined && recording.deactivatedAtMs === null
  return {
    id: camera.id,
    owner_id: camera.ownerId,
    name: camera.name,
    type: camera.type,
    url: hideSecrets(camera.url),
    has_credentials: camera.username !== null,
    event_api_hash: camera.eventApiHash,
    keeps_damaged_pictures: camera.keepsDamaged,
    status: camera.status,
    status_reason: camera.statusReason,
    status_code: camera.statusCode,
    status_detail: camera.statusDetail,
    created_at: writeTime(camera.createdAtMs),
    recording: isRecorded
      ? {
          retention: recording.retention,
          max_bytes: recording.maxBytes,
          local_retention: recording.localRetention,
          status: recording.status,
          status_detail: recording.statusDetail,
        }
      : null,
  }
}
