// nightjar node …, nightjar camera place: the servers of a PostgreSQL database, and which one has which camera.

import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import type { Config } from '../config.ts'
import { type Placement, type PlacementPreference, placeCamera } from '../model/placement.ts'
import { writeTime } from '../model/time.ts'
import { isPostgresUrl } from '../store/postgres/postgres-url.ts'
import { type ListedNode, listNodes } from '../store/server/placements.ts'
import type { Store } from '../store/store.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'
import { parseId } from './names.ts'
import { withStore } from './open-data.ts'
import { writeTable } from './table.ts'

const options = { database: serverOptions.database!, 'secret-key-file': serverOptions['secret-key-file']! }

const nodeList: Command = {
  name: 'node list',
  summary: 'List the servers of a PostgreSQL database, and those that were there in the last day.',
  positionals: [],
  options,
  run: ({ config }) =>
    withNodes(config, async (store) => {
      const nodes = await listNodes(store)
      const rows = nodes.map((node) => [
        node.name,
        node.isAlive ? (node.isDraining ? 'answers, draining' : 'answers') : `gone since ${writeTime(node.expiresMs)}`,
        node.hasCameras ? String(node.cameras) : 'only answers',
        node.labels.join(' '),
        node.address ?? '',
        node.version,
        writeTime(node.startedMs),
        node.holder,
      ])
      const titles = ['NAME', 'STATE', 'CAMERAS', 'LABELS', 'PEER ADDRESS', 'VERSION', 'STARTED', 'RUNS']
      return { json: { nodes: nodes.map(describeNode) }, text: writeTable(titles, rows, 'No server is running.') }
    }),
}

const nodeDrain: Command = {
  name: 'node drain',
  summary: 'Give the cameras of a server to others, and none to it until --undo. It goes on answering.',
  positionals: ['NAME'],
  options: { ...options, undo: { description: 'Let it have cameras again.' } },
  run: ({ config, positionals, switches, terminal }) =>
    withNodes(config, async (store) => {
      const name = positionals[0]!
      const find = async () => getNode(await listNodes(store), name)
      const isDraining = !switches.has('undo')
      await find()
      if (isDraining) await checkOthers(store, name)
      await store.placements.changeServer(name, { isDraining })
      if (!isDraining) return { json: describeNode(await find()), text: `${name} gets cameras again.` }
      let left = Number.POSITIVE_INFINITY
      let movedMs = systemClock.monotonicMs()
      for (;;) {
        const node = await find()
        if (node.cameras === 0) return { json: describeNode(node), text: `${name} has no cameras any more.` }
        if (node.cameras < left) {
          left = node.cameras
          movedMs = systemClock.monotonicMs()
          terminal.stderr.write(`${name} still has ${left} camera${left === 1 ? '' : 's'} …\n`)
        }
        if (systemClock.monotonicMs() - movedMs > patienceMs)
          throw new AppError('unavailable', `${name} still has ${left} cameras, and gives none away: look into its log`)
        await systemClock.sleep(lookMs)
      }
    }),
}

const nodeLabel: Command = {
  name: 'node label',
  summary: 'Set the labels of a server, for instance of the site that it is at. Cameras may ask for one.',
  positionals: ['NAME', 'LABELS'],
  options,
  run: ({ config, positionals }) =>
    withNodes(config, async (store) => {
      const [name = '', text = ''] = positionals
      const labels = text.split(',').map((label) => label.trim())
      if (text === 'none') labels.length = 0
      for (const label of labels) parseLabel(label)
      getNode(await listNodes(store), name)
      await store.placements.changeServer(name, { labels })
      const json = describeNode(getNode(await listNodes(store), name))
      return {
        json,
        text: labels.length > 0 ? `${name} has the labels ${labels.join(', ')}.` : `${name} has no labels.`,
      }
    }),
}

const nodeRemove: Command = {
  name: 'node remove',
  summary: 'Forget a server that is gone, and its labels. That it ran is forgotten by itself a day later.',
  positionals: ['NAME'],
  options,
  run: ({ config, positionals }) =>
    withNodes(config, async (store) => {
      const node = getNode(await listNodes(store), positionals[0]!)
      if (node.isAlive) throw new AppError('conflict', `${node.name} is running; stop it first`)
      await store.nodes.remove(node)
      await store.placements.forgetServer(node.name)
      const places = (await store.places.list()).filter((place) => place.node === node.name).map(({ id }) => id)
      const advice = 'to use its disk here, or to forget them, see docs/guide/cluster.md'
      const left = places.length > 0 ? ` Its recordings in place ${places.join(', ')} stay listed; ${advice}` : ''
      return { json: { ...describeNode(node), places }, text: `Forgot ${node.name}.${left}` }
    }),
}

const cameraPlace: Command = {
  name: 'camera place',
  summary: 'Show which server has a camera and why, or say which one should.',
  positionals: ['CAMERA'],
  options: {
    ...options,
    node: {
      placeholder: 'NAME',
      description: 'The server that should have it. While that is gone, another one has it.',
    },
    label: { placeholder: 'LABEL', description: 'One with this label should have it; see: nightjar node label.' },
    anywhere: { description: 'Any server may have it again.' },
  },
  run: ({ config, positionals, options: given, switches }) =>
    withNodes(config, async (store) => {
      const { id, name } = await store.cameras.get(parseId('camera', positionals[0]!))
      const { node, label } = given
      if (label !== undefined) parseLabel(label)
      if (switches.has('anywhere') || node !== undefined || label !== undefined)
        await store.placements.placeCamera(id, { node: node ?? null, label: label ?? null })
      const nodes = await listNodes(store)
      const lease = (await store.leases.list()).find(({ cameraId }) => cameraId === id)
      const has = nodes.find(({ incarnation, isAlive }) => isAlive && incarnation === lease?.incarnation)?.name
      const preference = (await store.placements.listCameras()).get(id) ?? {}
      const candidates = nodes.filter((each) => each.isAlive && each.hasCameras && !each.isDraining)
      const placed = placeCamera(id, candidates, preference)
      const json = {
        id,
        server: has ?? null,
        should_be: placed?.server ?? null,
        because: placed?.by ?? null,
        ...preference,
      }
      const where = has === undefined ? 'No server has' : `${has} has`
      return { json, text: `${where} camera ${id}, ${name}. ${explain(placed, preference)}` }
    }),
}

export const nodeCommands: readonly Command[] = [nodeList, nodeDrain, nodeLabel, nodeRemove, cameraPlace]

/** How long to wait for the next camera that a server gives away. */
const patienceMs = 60_000
const lookMs = 500

function getNode(nodes: readonly ListedNode[], name: string): ListedNode {
  const node = nodes.find((each) => each.name === name)
  if (node) return node
  throw new AppError('not_found', `there is no server ${name}; see: nightjar node list`)
}

async function checkOthers(store: Store, name: string): Promise<void> {
  const isOther = (node: ListedNode) => node.name !== name && node.isAlive && node.hasCameras && !node.isDraining
  if (!(await listNodes(store)).some(isOther))
    throw new AppError('conflict', `there is no other server that could have the cameras of ${name}`)
}

function parseLabel(label: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._=-]{0,62}$/.test(label))
    throw new AppError(
      'invalid',
      `expected labels of up to 63 letters, digits and . _ = -, got "${label.slice(0, 80)}"`,
    )
}

function explain(placed: Placement | undefined, { node, label }: PlacementPreference): string {
  if (!placed) return 'No server with cameras is running.'
  if (placed.by === 'name') return `It asks for the server ${node}.`
  if (placed.by === 'label')
    return `It asks for the label ${label}, and belongs to ${placed.server} among those that have it.`
  const asked = node === undefined && label === undefined ? '' : `There is none that it asks for (${node ?? label}). `
  return `${asked}Cameras are spread over all servers, and this one belongs to ${placed.server}.`
}

function withNodes<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  if (isPostgresUrl(config.database)) return withStore(config, work)
  throw new AppError(
    'conflict',
    'a database in a file has one server; several need PostgreSQL: name it with --database',
  )
}

function describeNode(node: ListedNode) {
  const { name, isAlive, isDraining, hasCameras, cameras, processors, labels, address } = node
  const { version, startedMs, expiresMs, holder } = node
  return {
    ...{ name, is_alive: isAlive, is_draining: isDraining, has_cameras: hasCameras, cameras, processors, labels },
    cameras_by: node.camerasBy,
    ...{ peer_address: address, version, holder },
    ...{ started_at: writeTime(startedMs), expires_at: writeTime(expiresMs) },
  }
}
