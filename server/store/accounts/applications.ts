// Applications: the OAuth clients of RFC 6749 section 2, registered by their users.

import type { Kysely } from 'kysely'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { ChangePublisher } from '../engine/change-feed.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../engine/constraint.ts'
import type { Row, Tables } from '../schema.ts'

export type Application = {
  readonly id: number
  /** Public; sent with every request. */
  readonly clientId: string
  readonly ownerId: number
  readonly name: string
  /** Has a secret, which is required for every code exchange; without one, PKCE is required. */
  readonly isConfidential: boolean
  /** The secret is also required for the password and refresh grants. */
  readonly requiresSecret: boolean
  readonly allowsPassword: boolean
  /** Validated at registration; see model/oauth/redirect-uri.ts. */
  readonly redirectUris: readonly string[]
  /** The scopes it may request. */
  readonly scopes: readonly string[]
  readonly createdAtMs: number
  /** One of the server's own: users see no consent page for it, and it is not listed. */
  readonly isBuiltIn: boolean
}

/** Properties of one of the server's own applications: public, and without the password grant. */
export type BuiltIn = Pick<Application, 'clientId' | 'name' | 'redirectUris' | 'scopes'>

export type NewApplication = Pick<Application, 'clientId' | 'ownerId' | 'name' | 'redirectUris'> &
  Partial<Pick<Application, 'requiresSecret' | 'allowsPassword' | 'scopes'>> & {
    /** SHA-256 of the secret, 32 bytes; null for a public application. */
    readonly secretHash: Uint8Array | null
  }

export type ApplicationChange = Partial<
  Pick<Application, 'name' | 'requiresSecret' | 'allowsPassword' | 'redirectUris' | 'scopes'>
>

/** An application with what authenticates its requests. */
export type Client = Application & { readonly secretHash: Uint8Array | null }

const allowedByDefault = ['user_access'] as const

export class Applications {
  readonly #db: Kysely<Tables>
  readonly #feed: ChangePublisher
  readonly #clock: Clock

  constructor(db: Kysely<Tables>, feed: ChangePublisher, clock: Clock) {
    this.#db = db
    this.#feed = feed
    this.#clock = clock
  }

  /** Throws 'conflict' if the client id is taken and 'not_found' for an unknown owner. */
  async insert(application: NewApplication): Promise<Application> {
    const { clientId, ownerId, name, secretHash, redirectUris } = application
    const { requiresSecret = false, allowsPassword = true, scopes = allowedByDefault } = application
    try {
      const row = await this.#db
        .insertInto('applications')
        .values({
          client_id: clientId,
          owner_id: ownerId,
          name,
          secret_hash: secretHash,
          requires_secret: requiresSecret ? 1 : 0,
          allows_password: allowsPassword ? 1 : 0,
          redirect_uris: redirectUris.join('\n'),
          scope: scopes.join(' '),
          created_at_ms: this.#clock.nowMs(),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      this.#feed.publish('records')
      return toApplication(row)
    } catch (cause) {
      if (isUniqueViolation(cause)) throw new AppError('conflict', `the client id ${clientId} is taken`, { cause })
      if (isForeignKeyViolation(cause)) throw new AppError('not_found', `there is no user ${ownerId}`, { cause })
      throw cause
    }
  }

  /** Also undefined while its owner is disabled. */
  async find(clientId: string): Promise<Application | undefined> {
    const client = await this.findClient(clientId)
    return client && withoutHash(client)
  }

  /** Like `find`, including the hash of the secret. */
  async findClient(clientId: string): Promise<Client | undefined> {
    const row = await this.#db
      .selectFrom('applications')
      .innerJoin('users as owner', 'owner.id', 'applications.owner_id')
      .selectAll('applications')
      .where('client_id', '=', clientId)
      .where((where) => where.or([where('owner.disabled_at_ms', 'is', null), where('is_built_in', '=', 1)]))
      .executeTakeFirst()
    return row && { ...toApplication(row), secretHash: row.secret_hash }
  }

  /**
   * Creates or updates one of the server's own applications. Every row needs an owner, so it belongs to the first
   * owner. Returns false while there is no owner.
   */
  async setBuiltIn({ clientId, name, redirectUris, scopes }: BuiltIn): Promise<boolean> {
    const values = { name, redirect_uris: redirectUris.join('\n'), scope: scopes.join(' ') }
    const known = await this.#db
      .selectFrom('applications')
      .selectAll()
      .where('client_id', '=', clientId)
      .executeTakeFirst()
    const isSame = known?.name === values.name && known.redirect_uris === values.redirect_uris
    if (isSame && known.scope === values.scope) return true
    const owner = await this.#db
      .selectFrom('users')
      .select('id')
      .where('is_owner', '=', 1)
      .orderBy('id')
      .executeTakeFirst()
    if (!owner) return false
    await this.#db
      .insertInto('applications')
      .values({
        ...values,
        client_id: clientId,
        owner_id: owner.id,
        secret_hash: null,
        requires_secret: 0,
        allows_password: 0,
        created_at_ms: this.#clock.nowMs(),
        is_built_in: 1,
      })
      .onConflict((conflict) => conflict.column('client_id').doUpdateSet(values))
      .execute()
    this.#feed.publish('records')
    return true
  }

  /** By id. Throws 'not_found'. */
  async get(id: number): Promise<Application> {
    const row = await this.#db.selectFrom('applications').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw missing(id)
    return toApplication(row)
  }

  /** The applications of one owner, in order of creation. */
  async listByOwner(ownerId: number): Promise<Application[]> {
    const query = this.#db.selectFrom('applications').selectAll().where('owner_id', '=', ownerId)
    return (await query.where('is_built_in', '=', 0).orderBy('id').execute()).map(toApplication)
  }

  /** All applications that users created, in order of creation. */
  async list(): Promise<Application[]> {
    const query = this.#db.selectFrom('applications').selectAll().where('is_built_in', '=', 0)
    return (await query.orderBy('id').execute()).map(toApplication)
  }

  /** Throws 'not_found'. */
  async update(id: number, change: ApplicationChange): Promise<Application> {
    const { name, requiresSecret, allowsPassword, redirectUris, scopes } = change
    return this.#set(id, {
      ...(name !== undefined && { name }),
      ...(requiresSecret !== undefined && { requires_secret: requiresSecret ? 1 : 0 }),
      ...(allowsPassword !== undefined && { allows_password: allowsPassword ? 1 : 0 }),
      ...(redirectUris !== undefined && { redirect_uris: redirectUris.join('\n') }),
      ...(scopes !== undefined && { scope: scopes.join(' ') }),
    })
  }

  /** The previous secret stops working; `null` makes the application public. Throws 'not_found'. */
  async rotateSecret(id: number, secretHash: Uint8Array | null): Promise<Application> {
    return this.#set(id, { secret_hash: secretHash })
  }

  /** Also deletes its grants. Returns false if there was none. */
  async remove(id: number): Promise<boolean> {
    const removed = await this.#db.deleteFrom('applications').where('id', '=', id).returning('id').executeTakeFirst()
    if (removed) this.#feed.publish('records')
    return removed !== undefined
  }

  async #set(id: number, values: Partial<Row<'applications'>>): Promise<Application> {
    if (Object.keys(values).length === 0) return this.get(id)
    const query = this.#db.updateTable('applications').set(values).where('id', '=', id).returningAll()
    const row = await query.executeTakeFirst()
    if (!row) throw missing(id)
    this.#feed.publish('records')
    return toApplication(row)
  }
}

function missing(id: number): AppError {
  return new AppError('not_found', `there is no application ${id}`)
}

function withoutHash({ secretHash: _, ...application }: Client): Application {
  return application
}

function toApplication(row: Row<'applications'>): Application {
  return {
    id: row.id,
    clientId: row.client_id,
    ownerId: row.owner_id,
    name: row.name,
    isConfidential: row.secret_hash !== null,
    requiresSecret: row.requires_secret === 1,
    allowsPassword: row.allows_password === 1,
    redirectUris: row.redirect_uris === '' ? [] : row.redirect_uris.split('\n'),
    scopes: row.scope.split(' '),
    createdAtMs: row.created_at_ms,
    isBuiltIn: row.is_built_in === 1,
  }
}
