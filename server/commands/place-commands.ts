// nightjar place …, nightjar archive move

import { join, resolve } from 'node:path'
import { writePlace } from '../api/answers/storage.ts'
import type { MoveOptions, MoveProgress } from '../archive/move.ts'
import { systemClock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import type { Config } from '../config.ts'
import { parseByteSize, writeByteSize } from '../model/byte-size.ts'
import { parseDurationMs } from '../model/duration.ts'
import { isBucket, type Place } from '../model/place.ts'
import { writeTime } from '../model/time.ts'
import type { Places } from '../places/places.ts'
import { isPostgresUrl } from '../store/postgres/postgres-url.ts'
import type { Store } from '../store/store.ts'
import { type Command, type CommandCall, type CommandResult, UsageError } from './command.ts'
import { serverOptions } from './help.ts'
import { parseId } from './names.ts'
import { openPlaces, withStore } from './open-data.ts'
import { openSpace } from './storage-commands.ts'
import { writeTable } from './table.ts'

const archive = serverOptions.archive!
const nodeName = serverOptions['node-name']!
const minFree = serverOptions['min-free']!

const placeList: Command = {
  name: 'place list',
  summary: 'List the places of recordings: folders, usually each on its own disk.',
  positionals: [],
  options: { archive, 'min-free': minFree, 'node-name': nodeName },
  run: ({ config }) =>
    withStore(config, async (store) => {
      const { StorageMeter } = await import('../archive/storage-meter.ts')
      const space = await openSpace(config, store)
      const { atMs, places } = await new StorageMeter(space).read()
      const rows = places.map(({ place, state, detail, bytes, disk, fullMs }) => [
        String(place.id),
        place.folder,
        String(place.weight),
        [detail ?? stateTexts[state], ...(place.isDraining ? ['draining'] : [])].join(', '),
        writeByteSize(bytes),
        disk ? `${writeByteSize(disk.freeBytes)} of ${writeByteSize(disk.totalBytes)}` : '',
        Number.isFinite(fullMs) ? writeTime(atMs + fullMs) : '',
      ])
      const others = await measureOthers(store, space.others)
      for (const { id, folder, weight, node, bytes } of others)
        rows.push([String(id), folder, String(weight), `of the server ${node}`, writeByteSize(bytes), '', ''])
      const titles = ['ID', 'FOLDER', 'WEIGHT', 'STATE', 'USED', 'FREE', 'FULL']
      const json = {
        places: places.map((place) => writePlace(place, atMs)),
        other_servers: others.map(({ id, folder, node, bytes }) => ({ id, folder, server: node, used_bytes: bytes })),
      }
      return {
        json,
        text: writeTable(titles, rows, 'There are no places yet: the first start of the server adds one.'),
      }
    }),
}

/** What the index says of the folders of other servers. */
async function measureOthers(store: Store, others: readonly Place[]) {
  const usage = await store.segments.listUsage()
  const bytesOf = (id: number) =>
    usage.filter(({ placeId }) => placeId === id).reduce((sum, { bytes }) => sum + bytes, 0)
  return others.map((place) => ({ ...place, bytes: bytesOf(place.id) }))
}

const stateTexts = {
  ready: 'ready',
  away: 'away: not mounted?',
  foreign: 'of another installation, or another place',
  read_only: 'read-only',
  silent: 'does not respond',
  refused: 'refused',
} as const

const placeAdd: Command = {
  name: 'place add',
  summary: 'Record into another folder too, for instance on a second disk. A running server does so at once.',
  positionals: ['FOLDER'],
  options: {
    archive,
    'node-name': nodeName,
    'take-over': {
      description:
        'The folder or bucket holds recordings of an installation whose database was lost. To add them to the index, stop the server and run: nightjar check --fix --adopt-older',
    },
    weight: {
      placeholder: 'N',
      description: 'Share of new recordings in proportion to the other places, from 0.01 to 10000. Default: 1.',
    },
  },
  run: ({ config, options, positionals, switches }) =>
    withStore(config, async (store) => {
      const { addPlace } = await import('../archive/open-places.ts')
      const folder = isBucket({ folder: positionals[0]! }) ? positionals[0]! : resolve(positionals[0]!)
      const weight = parseWeight(options.weight ?? '1')
      const before = await store.places.list()
      const node = isBucket({ folder }) ? undefined : findNode(config, before)
      if (before.length === 0) await addFirst(config, store)
      const moved = await moveDisk(store, folder, { node, before })
      const place =
        moved ?? (await addPlace(store.places, { folder, weight }, { takesOver: switches.has('take-over'), node }))
      const { places } = await openPlaces(config, store)
      const done = moved
        ? `Place ${place.id}, which was a folder of the server ${moved.node}, is ${folder} of ${node} now`
        : `Added place ${place.id}, ${folder}`
      return { json: describePlace({ ...place, folder }), text: `${done}. ${sharesOf(places)}` }
    }),
}

/** A folder that was of another server: its disk is in this machine now. Returns what it was, or undefined for any other. */
async function moveDisk(
  store: Store,
  folder: string,
  { node, before }: { readonly node: string | undefined; readonly before: readonly Place[] },
): Promise<Place | undefined> {
  const { readMark } = await import('../places/place-folder.ts')
  const mark = await readMark(folder)
  const place = before.find((each) => each.mark === mark && each.node !== undefined && each.node !== node)
  if (!place || node === undefined) return undefined
  if (await isRunning(store, place))
    throw new AppError('conflict', `${folder} is place ${place.id} of the server ${place.node}, which is running`)
  await store.places.change(place.id, { folder, node })
  return place
}

/** Whether the server of a folder runs. */
async function isRunning(store: Store, { node }: Place): Promise<boolean> {
  const { listNodes } = await import('../store/server/placements.ts')
  return (await listNodes(store)).some(({ name, isAlive }) => name === node && isAlive)
}

/** Before the first start of the server. The first place is the folder of `--archive`. */
async function addFirst(config: Config, store: Store): Promise<void> {
  const [{ folder, weight }] = config.archive
  const { createMark, readMark } = await import('../places/place-folder.ts')
  const mark = (await readMark(folder)) || createMark()
  await store.places.add({ folder, weight, mark })
}

/** The server whose folder is added, where several share a database: that of the other folders, or the one that is named. */
function findNode({ nodeName }: Config, places: readonly Place[]): string | undefined {
  const nodes = [...new Set(places.flatMap(({ node }) => node ?? []))]
  if (nodes.length <= 1 || nodes.includes(nodeName)) return nodes.includes(nodeName) ? nodeName : nodes[0]
  throw new AppError(
    'invalid',
    `folders of several servers are known: name the one whose folder this is with --node-name (${nodes.join(', ')})`,
  )
}

function sharesOf({ all }: Places): string {
  const open = all.filter((place) => !place.isDraining && !isBucket(place))
  const total = open.reduce((sum, { weight }) => sum + weight, 0)
  const shares = open.map(({ id, weight }) => `${Math.round((100 * weight) / total)} % to place ${id}`)
  return `New recordings go ${shares.join(', ')}.`
}

const placeDrain: Command = {
  name: 'place drain',
  summary:
    'Record nothing new into a place, and move its recordings to the other folders. Can be interrupted and run again.',
  positionals: ['PLACE'],
  options: {
    archive,
    'min-free': minFree,
    'node-name': nodeName,
    'keep-recordings': { description: 'Move nothing: the recordings stay until they expire.' },
    undo: { description: 'Record into the place again.' },
    ...rateOption(),
  },
  run: (call) =>
    withStore(call.config, async (store) => {
      const { config, positionals, switches } = call
      const found = await openPlaces(config, store)
      const { places } = found
      const place = getPlace(found, positionals[0]!)
      const isDraining = !switches.has('undo')
      const others = places.folders.filter(({ id, isDraining: isAlso }) => id !== place.id && !isAlso)
      if (isDraining && others.length === 0)
        throw new AppError('conflict', 'this is the only place that takes recordings; add another one first')
      await store.places.change(place.id, { isDraining })
      const json = describePlace({ ...place, isDraining })
      if (!isDraining) return { json, text: `Place ${place.id} takes new recordings again.` }
      const state = `Place ${place.id} takes no new recordings.`
      if (switches.has('keep-recordings')) return { json, text: state }
      const moved = await move(call, store, { places, from: place, targets: others })
      return { ...moved, json: { ...json, ...moved.json }, text: `${state} ${moved.text}` }
    }),
}

const placeRemove: Command = {
  name: 'place remove',
  summary: 'Forget a place that was drained and is empty. Its folder or bucket stays.',
  positionals: ['PLACE'],
  options: {
    archive,
    'node-name': nodeName,
    'forget-recordings': {
      description:
        'For a folder of another server that will not come back: forget the recordings that were in it, too.',
    },
  },
  run: (call) =>
    withStore(call.config, async (store) => {
      const { config, positionals, switches } = call
      const found = await openPlaces(config, store)
      const { places } = found
      const lost = found.others.find(({ id }) => String(id) === positionals[0])
      if (lost) return await forgetLost(call, store, lost)
      const place = getPlace(found, positionals[0]!)
      const { id, folder, isDraining } = place
      if (switches.has('forget-recordings'))
        throw new AppError(
          'conflict',
          `${folder} is a place of this server. If it is lost for good, stop the server and run: nightjar check --fix --forget-missing`,
        )
      if (config.archive.some((each) => each.folder === folder))
        throw new AppError(
          'conflict',
          `${folder} is configured with --archive and would come back: take it out there first`,
        )
      const advice = `nightjar place drain ${id}`
      if (!isDraining) throw new AppError('conflict', `the place takes new recordings; first run: ${advice}`)
      try {
        await store.places.remove(id)
      } catch (error) {
        if (error instanceof AppError && error.kind === 'conflict')
          throw new AppError('conflict', `${error.message}; to move them, run: ${advice}`, { cause: error })
        throw error
      }
      const rest = await places
        .filesOf(id)
        .unmark()
        .then(
          () => `${folder} is still there`,
          (error) => `${folder} could not be prepared for use as another place: ${errorChain(error)}`,
        )
      return { json: describePlace(place), text: `Removed place ${id}; ${rest}.` }
    }),
}

/** A folder of another server, which must not run. */
async function forgetLost({ switches, terminal }: CommandCall, store: Store, place: Place): Promise<CommandResult> {
  const { forgetPlace } = await import('../archive/fix.ts')
  const { id, folder, node } = place
  if (await isRunning(store, place))
    throw new AppError('conflict', `${whose(place)}, which is running: run this command there`)
  const isOpen = (await store.segments.listOpen()).some(({ placeId }) => placeId === id)
  const { bytes } = (await measureOthers(store, [place]))[0]!
  if ((bytes > 0 || isOpen) && !switches.has('forget-recordings'))
    throw new AppError(
      'conflict',
      `${whose(place)}, and holds ${writeByteSize(bytes)} of recordings. If it will not come back, forget them with --forget-recordings`,
    )
  const say = sayAtTimes(terminal)
  let files = 0
  await forgetPlace(store.segments, place, (some) => {
    files += some
    say(`Forgot ${files} files …`)
  })
  await store.places.remove(id)
  return {
    json: { ...describePlace(place), forgotten_files: files },
    text: `Removed place ${id}, ${folder} of the server ${node}, and forgot ${files} files.`,
  }
}

const archiveMove: Command = {
  name: 'archive move',
  summary:
    'Move recordings from one place to others, oldest first, also while the server records and plays them. Can be interrupted and run again.',
  positionals: [],
  options: {
    from: { placeholder: 'PLACE', description: 'Place to move recordings from.', isRequired: true },
    to: {
      placeholder: 'PLACES',
      description: 'Places to move them to, separated by commas. Default: all other folders.',
    },
    camera: { placeholder: 'CAMERA', description: 'Only recordings of this camera.' },
    'older-than': {
      placeholder: 'DURATION',
      description: 'Only recordings older than this, for example P7D or PT12H.',
    },
    ...rateOption(),
    archive,
    'min-free': minFree,
    'node-name': nodeName,
  },
  run: (call) =>
    withStore(call.config, async (store) => {
      const { config, options } = call
      const found = await openPlaces(config, store)
      const { places } = found
      const from = getPlace(found, options.from!)
      const targets =
        options.to === undefined
          ? places.folders.filter(({ id, isDraining }) => id !== from.id && !isDraining)
          : options.to.split(',').map((text) => getPlace(found, text.trim()))
      if (targets.some(({ id }) => id === from.id))
        throw new UsageError('--from and --to name the same place', archiveMove)
      if (targets.length === 0)
        throw new AppError('conflict', 'there is no other place; add one with: nightjar place add')
      // Also one that was removed meanwhile.
      const cameraId = options.camera === undefined ? undefined : parseId('camera', options.camera)
      const olderMs = options['older-than'] === undefined ? undefined : parseDurationMs(options['older-than'])
      const nowMs = systemClock.nowMs()
      const endedByMs = olderMs === undefined ? undefined : () => nowMs - olderMs
      return await move(call, store, { places, from, targets, cameraId, endedByMs })
    }),
}

export const placeCommands: readonly Command[] = [placeList, placeAdd, placeDrain, placeRemove, archiveMove]

function rateOption() {
  return {
    rate: {
      placeholder: 'SIZE',
      description: 'Bytes per second at most, so that recording and playback have the disks too. Default: 50MB.',
    },
  }
}

type Moving = {
  readonly places: Places
  readonly from: Place
  readonly targets: readonly Place[]
  readonly cameraId?: number | undefined
  readonly endedByMs?: MoveOptions['endedByMs']
}

const progressMs = 2000

async function move({ config, options, terminal }: CommandCall, store: Store, moving: Moving): Promise<CommandResult> {
  const { moveRecordings, removeUnfinishedCopies } = await import('../archive/move.ts')
  const { lockFile } = await import('../store/engine/file-lock.ts')
  const bytesPerSecond = parseByteSize(options.rate ?? '50MB')
  if (bytesPerSecond < 1) throw new AppError('invalid', 'expected a rate of more than 0 bytes')
  using lock = lockFile(join(config.data, 'move.lock'))
  if (!lock) throw new AppError('conflict', 'recordings are being moved already, by another command')
  for (const place of [moving.from, ...moving.targets])
    if (!(await moving.places.isPresent(place.id)))
      throw new AppError('unavailable', `place ${place.id}, ${place.folder}, is not there: is its disk mounted?`)
  const usage = await store.segments.listUsage()
  const whole = usage
    .filter(({ placeId, cameraId }) => placeId === moving.from.id && cameraId === (moving.cameraId ?? cameraId))
    .reduce((sum, { bytes }) => sum + bytes, 0)
  const say = sayAtTimes(terminal)
  const onProgress = ({ files, bytes }: MoveProgress) =>
    say(`Moved ${files} files, ${writeByteSize(bytes)} of at most ${writeByteSize(whole)} …`)
  const node = isPostgresUrl(config.database) ? config.nodeName : undefined
  const context = { rows: store.segments, places: moving.places, node, clock: systemClock, log: silentLogger }
  await removeUnfinishedCopies(context, 'command')
  const { files, bytes, failed } = await moveRecordings({
    ...context,
    ...{ owner: 'command', minFreeBytes: config.minFree },
    ...{ ...moving, bytesPerSecond, onProgress },
  })
  const failures = failed.map(({ path, detail }) => `not moved: ${path}: ${detail}`)
  return {
    json: { moved_files: files, moved_bytes: bytes, failed_files: failed },
    text: [`Moved ${files} files, ${writeByteSize(bytes)}.`, ...failures].join('\n'),
    isFailure: failed.length > 0,
  }
}

/** Writes what it is given at most every two seconds. */
function sayAtTimes({ stderr }: CommandCall['terminal']): (text: string) => void {
  let saidMs = systemClock.monotonicMs()
  return (text) => {
    if (systemClock.monotonicMs() < saidMs + progressMs) return
    saidMs = systemClock.monotonicMs()
    stderr.write(`${text}\n`)
  }
}

function getPlace({ places, others }: Awaited<ReturnType<typeof openPlaces>>, text: string): Place {
  const id = parseId('place', text)
  const place = places.all.find((each) => each.id === id)
  if (place) return place
  const other = others.find((each) => each.id === id)
  if (other) throw new AppError('conflict', `${whose(other)}: run this command there`)
  throw new AppError('not_found', `there is no place ${id}; see: nightjar place list`)
}

function whose({ id, folder, node }: Place): string {
  return `place ${id}, ${folder}, is a folder of the server ${node}`
}

function parseWeight(text: string): number {
  const weight = /^\d{1,5}(\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN
  if (weight >= 0.01 && weight <= 10_000) return weight
  throw new AppError('invalid', `expected a weight from 0.01 to 10000, got "${text.slice(0, 40)}"`)
}

function describePlace({ id, folder, weight, isDraining }: Place) {
  return { id, folder, weight, is_draining: isDraining }
}
