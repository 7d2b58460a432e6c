// What people have said about where cameras should be: labels of servers, servers that are to give up their cameras, and
// cameras that ask for a server or for a label. Servers keep what was said of them while they are gone.

import type { Kysely } from 'kysely'
import { type Placement, type PlacementPreference, placeCamera } from '../../model/placement.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import type { Tables } from '../schema.ts'
import type { Leases } from './leases.ts'
import type { Node, Nodes } from './nodes.ts'

export type ServerSettings = { readonly isDraining: boolean; readonly labels: readonly string[] }

export class Placements {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher

  constructor(db: Kysely<Tables>, feed: ChangePublisher) {
    this.#db = db
    this.#feed = feed
  }

  /** By name; those of which nothing was said are missing. */
  async listServers(): Promise<Map<string, ServerSettings>> {
    const rows = await this.#db.selectFrom('node_settings').selectAll().execute()
    return new Map(
      rows.map(({ name, is_draining, labels }) => [name, { isDraining: is_draining === 1, labels: split(labels) }]),
    )
  }

  async changeServer(name: string, { isDraining, labels }: Partial<ServerSettings>): Promise<void> {
    const values = {
      ...(isDraining !== undefined && { is_draining: isDraining ? 1 : 0 }),
      ...(labels !== undefined && { labels: labels.join(' ') }),
    }
    await this.#db
      .insertInto('node_settings')
      .values({ name, is_draining: 0, labels: '', ...values })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
      .execute()
    this.#feed.publish('camera_leases')
  }

  async forgetServer(name: string): Promise<void> {
    await this.#db.deleteFrom('node_settings').where('name', '=', name).execute()
    this.#feed.publish('camera_leases')
  }

  /** By camera; those that ask for nothing are missing. */
  async listCameras(): Promise<Map<number, PlacementPreference>> {
    const rows = await this.#db.selectFrom('camera_placements').selectAll().execute()
    return new Map(rows.map((row) => [row.camera_id, { node: row.node ?? undefined, label: row.label ?? undefined }]))
  }

  /** Replaces what the camera asks for. */
  async placeCamera(cameraId: number, { node = null, label = null }: { node?: string | null; label?: string | null }) {
    await this.#db
      .insertInto('camera_placements')
      .values({ camera_id: cameraId, node, label })
      .onConflict((conflict) => conflict.column('camera_id').doUpdateSet({ node, label }))
      .execute()
    this.#feed.publish('camera_leases')
  }
}

const split = (labels: string): string[] => labels.split(' ').filter(Boolean)

/** Cameras that a server has, by what decided; `moving`: that belong to another one. */
export type CamerasBy = Readonly<Record<Placement['by'] | 'moving', number>>

/** A server, what was said of it, how many cameras it has, and why. */
export type ListedNode = Node & ServerSettings & { readonly cameras: number; readonly camerasBy: CamerasBy }

/** All servers, by name; also those that are gone for a day. */
export async function listNodes(store: {
  readonly nodes: Pick<Nodes, 'list'>
  readonly leases: Pick<Leases, 'list'>
  readonly placements: Pick<Placements, 'listServers' | 'listCameras'>
}): Promise<ListedNode[]> {
  const settings = await store.placements.listServers()
  const preferences = await store.placements.listCameras()
  const leases = Map.groupBy(await store.leases.list(), ({ incarnation }) => incarnation)
  const nodes = (await store.nodes.list()).map((node) => {
    return { ...node, ...(settings.get(node.name) ?? { isDraining: false, labels: [] }) }
  })
  const candidates = nodes.filter(({ isAlive, hasCameras, isDraining }) => isAlive && hasCameras && !isDraining)
  return nodes.map((node) => {
    const own = leases.get(node.incarnation) ?? []
    const camerasBy = { name: 0, label: 0, spread: 0, moving: 0 }
    for (const { cameraId } of own) {
      const placed = placeCamera(cameraId, candidates, preferences.get(cameraId))
      camerasBy[placed && placed.server !== node.name ? 'moving' : (placed?.by ?? 'spread')]++
    }
    return { ...node, cameras: own.length, camerasBy }
  })
}
