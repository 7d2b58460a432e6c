// What people have said about where cameras should be: labels of servers, servers that are to give up their cameras, and
// cameras that ask for a server or for a label. Servers keep what was said of them while they are gone.

import type { Kysely } from 'kysely'
import type { PlacementPreference } from '../../model/placement.ts'
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

/** A server, what was said of it, and how many cameras it has. */
export type ListedNode = Node & ServerSettings & { readonly cameras: number }

/** All servers, by name; also those that are gone for a day. */
export async function listNodes(store: {
  readonly nodes: Pick<Nodes, 'list'>
  readonly leases: Pick<Leases, 'list'>
  readonly placements: Pick<Placements, 'listServers'>
}): Promise<ListedNode[]> {
  const settings = await store.placements.listServers()
  const leases = Map.groupBy(await store.leases.list(), ({ incarnation }) => incarnation)
  return (await store.nodes.list()).map((node) => ({
    ...node,
    ...(settings.get(node.name) ?? { isDraining: false, labels: [] }),
    cameras: leases.get(node.incarnation)?.length ?? 0,
  }))
}
